package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"
)

const (
	grantsKept  = 2                // of a push
	grantUsable = 10 * time.Minute // less than a grant is good for: how long the ledger counts on it
)

// A crashFile is a file of a push.
type crashFile struct {
	seed uint64
	size int64
}

func (f crashFile) bytes() []byte {
	b, _ := io.ReadAll(content(f.seed, f.size))
	return b
}

// A crashGrant is what a retrieval gave to download files with.
type crashGrant struct {
	issued time.Time
	paths  []string
	tags   []string // entity tags, as far as they are known
	have   []int64  // bytes that came before a kill or a pause; 0: it need not be resumed
}

// A claim is a part of a file, to be had for a grant.
type claim struct {
	push   *crashPush
	grant  *crashGrant
	file   int
	part   []byte
	from   int64
	whole  bool   // the file, asked for without a range
	tag    string // where set: of the version that there is a part of
	begins bool   // the rest is to come after the next kill
	resume bool   // this is such a rest
}

// issue notes the grant of a retrieval, and judges the files that it names. The
// ledger is locked.
func (l *ledger) issue(p *crashPush, r crashRecord) error {
	if len(r.Files) != len(p.files) {
		return fmt.Errorf("P7: %d files of %d", len(r.Files), len(p.files))
	}
	if len(r.Files) == 0 {
		return nil
	}
	g := &crashGrant{issued: time.Now(), tags: make([]string, len(p.files)), have: make([]int64, len(p.files))}
	for i, f := range r.Files {
		at, err := url.Parse(f.URL)
		if err != nil || f.Size != p.files[i].size || f.Filename != nameOfFile(i) {
			return fmt.Errorf("P7: %q of %d bytes is another file than was sent", f.Filename, f.Size)
		}
		g.paths = append(g.paths, at.Path)
	}
	l.grantsIssued++
	p.grants = append(p.grants, g)
	if len(p.grants) > grantsKept {
		p.grants = slices.Delete(p.grants, 0, 1)
	}
	return nil
}

// usable are the grants of a push that nothing but a delete can have ended. The
// ledger is locked.
func (p *crashPush) usable() []*crashGrant {
	if time.Until(p.endsAt) < time.Minute {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.grants), func(g *crashGrant) bool { return time.Since(g.issued) > grantUsable })
}

// pickClaim chooses a part of a file to ask for; of no push if there is none.
func (l *ledger) pickClaim(rng *rand.Rand) (c claim) {
	const newest = 16
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.filed) == 0 {
		return c
	}
	from := max(0, len(l.filed)-newest)
	p := l.filed[from+rng.IntN(len(l.filed)-from)]
	grants := p.usable()
	if len(grants) == 0 {
		return c
	}
	c = claim{push: p, grant: grants[rng.IntN(len(grants))], file: rng.IntN(len(p.files))}
	all := p.files[c.file].bytes()
	c.part, c.whole = all, true
	if n := rng.IntN(8); len(all) > 0 && n < 4 {
		if c.begins = n == 0; !c.begins {
			c.from = rng.Int64N(int64(len(all)))
		}
		c.part, c.whole = all[c.from:c.from+1+rng.Int64N(int64(len(all))-c.from)], false
	}
	return c
}

// claims are what to ask for of a push after a kill: all files of its grants, and
// of downloads that were cut off the rest.
func (l *ledger) claims(p *crashPush) (all []claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range p.usable() {
		for i, f := range p.files {
			c := claim{push: p, grant: g, file: i, part: f.bytes(), whole: true}
			if n := g.have[i]; n > 0 && n < f.size {
				c.from, c.part, c.whole, c.tag, c.resume = n, c.part[n:], false, g.tags[i], true
			}
			all = append(all, c)
		}
	}
	return all
}

// gotFile judges what came of a file: all of the part if whole is set, else as
// much of it as there was before the answer ended.
func (l *ledger) gotFile(c claim, before glimpse, tag string, got []byte, whole bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := &c.grant.tags[c.file]
	switch {
	case before.released:
		return errors.New("P5: a file came after it was deleted")
	case !bytes.HasPrefix(c.part, got) || whole && len(got) != len(c.part):
		return fmt.Errorf("P7: %d bytes of a file from %d on are not the %d that were sent", len(got), c.from, len(c.part))
	case *known != "" && *known != tag:
		return fmt.Errorf("P7: the entity tag was %s and is %s", *known, tag)
	}
	*known = tag
	if !whole {
		if c.whole {
			c.grant.have[c.file] = int64(len(got))
		}
		return nil
	}
	l.downloads++
	if c.begins {
		c.grant.have[c.file] = int64(len(got))
	}
	if c.resume {
		c.grant.have[c.file] = 0
		l.resumed++
	}
	return nil
}

// gotNoFile judges that there is no file for the grant any more.
func (l *ledger) gotNoFile(c claim) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied++
	if !c.push.released && c.push.deletes == 0 {
		return fmt.Errorf("P1: a grant gives nothing and nobody deleted the push (%v)", c.push)
	}
	c.push.released = true
	return nil
}

// settleFiles makes the truth of what was just seen of a push that nobody else uses:
// files that are there were not ended by a delete that was cut off.
func (l *ledger) settleFiles(p *crashPush) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.released {
		p.deletes = 0
	}
}

// mayEnd reports whether a delete was sent that ends downloads of the push.
func (l *ledger) mayEnd(p *crashPush) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.released || p.deletes > 0
}
