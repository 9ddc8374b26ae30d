package proctest

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
	grantUsable = 10 * time.Minute // for as long the ledger relies on a grant; less than it is valid
)

// A File is a file of a push.
type File struct {
	Seed uint64
	Size int64
}

// Bytes are the content of the file.
func (f File) Bytes() []byte {
	b, _ := io.ReadAll(Content(f.Seed, f.Size))
	return b
}

// A grant is the URLs under which a retrieval offered the files of a push.
type grant struct {
	issued time.Time
	paths  []string
	tags   []string // entity tags, as far as they are known
	have   []int64  // bytes that came before a kill or a pause; 0: nothing to resume
}

// A claim is a part of a file that a grant must deliver.
type claim struct {
	push   *Push
	grant  *grant
	file   int
	part   []byte
	from   int64
	whole  bool   // the whole file, without a range
	tag    string // if set, the entity tag of the part that was downloaded
	begins bool   // the rest is left until after the next kill
	resume bool   // this is such a rest
}

// issue records the grant of a retrieval, and judges the files that it names. The
// ledger is locked.
func (l *Ledger) issue(p *Push, r Record) error {
	if len(r.Files) != len(p.files) {
		return fmt.Errorf("P7: %d files of %d", len(r.Files), len(p.files))
	}
	if len(r.Files) == 0 {
		return nil
	}
	g := &grant{issued: time.Now(), tags: make([]string, len(p.files)), have: make([]int64, len(p.files))}
	for i, f := range r.Files {
		at, err := url.Parse(f.URL)
		if err != nil || f.Size != p.files[i].Size || f.Filename != nameOfFile(i) {
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

// usable are the grants of a push that only a delete can have ended. The ledger is
// locked.
func (p *Push) usable() []*grant {
	if time.Until(p.endsAt) < time.Minute {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.grants), func(g *grant) bool { return time.Since(g.issued) > grantUsable })
}

// pickClaim chooses a part of a file to ask for. Its push is nil if there is none.
func (l *Ledger) pickClaim(rng *rand.Rand) (c claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := newest(rng, l.filed, 16)
	if p == nil {
		return c
	}
	grants := p.usable()
	if len(grants) == 0 {
		return c
	}
	c = claim{push: p, grant: grants[rng.IntN(len(grants))], file: rng.IntN(len(p.files))}
	all := p.files[c.file].Bytes()
	c.part, c.whole = all, true
	if n := rng.IntN(8); len(all) > 0 && n < 4 {
		if c.begins = n == 0; !c.begins {
			c.from = rng.Int64N(int64(len(all)))
		}
		c.part, c.whole = all[c.from:c.from+1+rng.Int64N(int64(len(all))-c.from)], false
	}
	return c
}

// claims are what to ask for of a push after a kill: all files of its grants, and the
// rest of each download that was cut off.
func (l *Ledger) claims(p *Push) (all []claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range p.usable() {
		for i, f := range p.files {
			c := claim{push: p, grant: g, file: i, part: f.Bytes(), whole: true}
			if n := g.have[i]; n > 0 && n < f.Size {
				c.from, c.part, c.whole, c.tag, c.resume = n, c.part[n:], false, g.tags[i], true
			}
			all = append(all, c)
		}
	}
	return all
}

// gotFile judges the bytes that came of a file: the whole part if whole is set, else
// what came before the answer ended.
func (l *Ledger) gotFile(c claim, before glimpse, tag string, got []byte, whole bool) error {
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

// gotNoFile judges the answer that a grant has no file.
func (l *Ledger) gotNoFile(c claim) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied++
	if !c.push.released && c.push.Deletes == 0 {
		return fmt.Errorf("P1: a grant gives nothing although the push was not deleted (%v)", c.push)
	}
	c.push.released = true
	return nil
}

// settleFiles takes what was just seen of a push that no other client uses for the
// truth: a delete that was cut off has not ended files that are there.
func (l *Ledger) settleFiles(p *Push) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.released {
		p.Deletes = 0
	}
}

// mayEnd reports whether a delete was sent that ends downloads of the push.
func (l *Ledger) mayEnd(p *Push) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.released || p.Deletes > 0
}
