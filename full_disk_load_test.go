package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// What a full disk may refuse.
const (
	creates = iota
	uploads
	views
	deletes
	refusals
)

const (
	fillers     = 4     // clients that fill a disk
	edgeBytes   = 100   // of a push that needs next to nothing
	mostText    = 500e3 // bytes
	recordBytes = 1500  // that stay of a push after its delete, about
	mostFile    = 8 << 20
)

// A fullDisk is a small disk, its server, and what was put there.
type fullDisk struct {
	*crowd
	size, floor int64
	dir         string
	filer       *filer

	mu      sync.Mutex
	rng     *rand.Rand
	files   stash
	refused [refusals]int
}

func (d *fullDisk) data() string { return filepath.Join(d.dir, "data") }

// isFull reports whether an error is the answer of a server without room.
func isFull(err error) bool {
	return err != nil && strings.Contains(err.Error(), fmt.Sprintf("status %d: ", http.StatusInsufficientStorage)) &&
		strings.Contains(err.Error(), `"error":"insufficient-storage"`) && strings.Contains(err.Error(), `"message":"The server has no room left`)
}

// note counts what was refused for lack of room. Another error fails the test.
func (d *fullDisk) note(what int, err error) {
	switch {
	case err == nil:
	case isFull(err):
		d.mu.Lock()
		d.refused[what]++
		d.mu.Unlock()
	default:
		d.t.Errorf("on a full disk: %v", err)
	}
}

// below is a number by chance.
func (d *fullDisk) below(n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Int64N(max(n, 1))
}

// createOf creates a text push of so many bytes. One that is refused must not be
// there.
func (d *fullDisk) createOf(bytes int64) error {
	p := &crashPush{limit: 1 + int(d.below(4)), owned: d.below(2) == 0, deletable: true, payload: strings.Repeat("secret ", int(bytes)/7)}
	d.ledger.sendCreate(p)
	in := newPush{Payload: p.payload, Name: p.name, Views: p.limit, Deletable: true}
	var out crashRecord
	err := d.call(http.MethodPost, apiPushes, d.bearerOf(p), map[string]newPush{"push": in}, http.StatusCreated, &out)
	switch {
	case err == nil:
		d.ledger.keep(p, out)
	case isFull(err):
		d.ledger.turnedAway(p)
	}
	return err
}

// turnedAway notes that a push was not taken.
func (l *ledger) turnedAway(p *crashPush) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lost, p.name)
}

// upload creates a push with a file of so many bytes.
func (d *fullDisk) upload(ctx context.Context, bytes int64) error {
	x := stashed{seed: d.files.seed(), size: bytes}
	var err error
	if x.token, err = d.filer.push(ctx, asMultipart, content(x.seed, x.size)); err == nil {
		d.files.add(x)
	}
	return err
}

// fill creates and uploads until nothing is taken any more, however small.
func (d *fullDisk) fill() {
	var all sync.WaitGroup
	for range fillers {
		all.Go(d.fillOne)
	}
	all.Wait()
	if d.refused[creates] == 0 || d.refused[uploads] == 0 {
		d.t.Errorf("refused were %d creates and %d uploads", d.refused[creates], d.refused[uploads])
	}
}

// mostText is how long a text may be. One is written together with up to three
// others, which what is kept free has to be enough for.
func (d *fullDisk) mostText() int64 {
	if d.floor == 0 {
		return min(mostText, d.size/16)
	}
	return min(mostText, d.floor/16)
}

func (d *fullDisk) fillOne() {
	const most = 5000
	ctx, cancel := context.WithTimeout(d.t.Context(), within(d.size))
	defer cancel()
	text, file := d.mostText(), min(mostFile, d.size/8)
	for range most {
		var err error
		what := creates
		if text > edgeBytes && (d.below(3) == 0 || file > 1<<20) {
			what = uploads
			err = d.upload(ctx, 1+d.below(file))
		} else {
			err = d.createOf(edgeBytes + d.below(text-edgeBytes))
		}
		d.note(what, err)
		switch {
		case err == nil:
		case !isFull(err), text <= edgeBytes:
			return
		default:
			text, file = max(text/4, edgeBytes), file/4
		}
	}
	d.t.Error("the disk never became full")
}

// look uses a full disk. Above its floor there is room for views and deletes; at
// the last byte they may be refused, and then nothing has happened.
func (d *fullDisk) look() {
	const most = 24
	for i, p := range d.ledger.all() {
		if i >= most {
			break
		}
		d.note(views, d.viewFull(p))
		if err := d.preview(p); err != nil {
			d.t.Errorf("on a full disk: preview: %v", err)
		}
		if i%8 == 0 {
			d.note(views, d.viewUp(p))
		}
	}
	for i, x := range d.files.all {
		if i < 3 {
			d.note(views, d.filer.compare(d.t.Context(), x))
		}
	}
	for _, state := range []bool{true, false} {
		if err := d.crowd.look(state); err != nil {
			d.t.Errorf("on a full disk: list: %v", err)
		}
	}
	if d.floor > 0 && d.refused[views] > 0 {
		d.t.Errorf("%d views were refused, with %d bytes kept free for them", d.refused[views], d.floor)
	}
}

// viewFull retrieves a push. A view that is refused must not count.
func (d *fullDisk) viewFull(p *crashPush) error {
	_, err := d.view(p, false)
	if isFull(err) {
		d.ledger.mu.Lock()
		p.pending--
		d.ledger.mu.Unlock()
	}
	return err
}

// viewUp retrieves a push until its limit ends it.
func (d *fullDisk) viewUp(p *crashPush) error {
	for range p.limit {
		if err := d.viewFull(p); err != nil {
			return err
		}
	}
	return nil
}

// makeRoom gives a disk without a floor some, and deletes half of what is there.
func (d *fullDisk) makeRoom() {
	if d.floor == 0 {
		d.tryToDelete()
		d.grow()
	}
	all := d.ledger.all()
	for i, p := range all {
		if i%2 != 0 {
			continue
		}
		if err := d.remove(p); err != nil {
			d.t.Errorf("delete on a full disk: %v", err)
			return
		}
	}
	for i, x := range d.files.all {
		if i%2 == 0 {
			d.deleteFile(x)
		}
	}
	d.files.all = everySecond(d.files.all)
}

// grow makes the disk larger: bbolt cannot even delete where not a page is left.
func (d *fullDisk) grow() {
	options := fmt.Sprintf("remount,size=%d", d.size+largestDisk)
	if out, err := exec.CommandContext(d.t.Context(), "mount", "-o", options, d.data()).CombinedOutput(); err != nil {
		d.t.Fatalf("remount: %v: %s", err, out)
	}
}

func everySecond(all []stashed) (kept []stashed) {
	for i := 1; i < len(all); i += 2 {
		kept = append(kept, all[i])
	}
	return kept
}

func (d *fullDisk) deleteFile(x stashed) {
	var r crashRecord
	if err := d.call(http.MethodDelete, apiPushes+"/"+x.token, d.bearer, nil, http.StatusOK, &r); err != nil {
		d.t.Errorf("delete of a file on a full disk: %v", err)
	}
}

// tryToDelete deletes one push at the last byte: that is done, or refused and
// then undone.
func (d *fullDisk) tryToDelete() {
	all := d.ledger.all()
	if len(all) == 0 {
		d.t.Fatal("of all creates none was acknowledged")
	}
	p := all[len(all)/2]
	before := p.deletes
	err := d.remove(p)
	d.note(deletes, err)
	if isFull(err) {
		d.ledger.mu.Lock()
		p.deletes = before
		d.ledger.mu.Unlock()
	}
}
