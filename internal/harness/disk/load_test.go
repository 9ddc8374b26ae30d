package disk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"pushbox/internal/proctest"
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
	edgeBytes   = 100   // of a push that needs little space
	mostText    = 500e3 // bytes
	recordBytes = 1500  // about; what stays of a push after its delete
	mostFile    = 8 << 20
)

// A fullDisk is a small disk, its server, and what was stored there.
type fullDisk struct {
	*proctest.Crowd
	size, floor int64
	dir         string
	filer       *proctest.FileClient

	mu      sync.Mutex
	rng     *rand.Rand
	files   proctest.Stash
	refused [refusals]int
}

func (d *fullDisk) data() string { return filepath.Join(d.dir, "data") }

// isFull reports whether an error is the answer of a server without room.
func isFull(err error) bool {
	return err != nil && strings.Contains(err.Error(), fmt.Sprintf("status %d: ", http.StatusInsufficientStorage)) &&
		strings.Contains(err.Error(), `"code":"insufficient-storage"`) && strings.Contains(err.Error(), `"error":"The server has no space left`)
}

// note counts an operation that was refused for lack of room. Another error fails the
// test.
func (d *fullDisk) note(what int, err error) {
	switch {
	case err == nil:
	case isFull(err):
		d.mu.Lock()
		d.refused[what]++
		d.mu.Unlock()
	default:
		d.T.Errorf("on a full disk: %v", err)
	}
}

// below returns a random number below n.
func (d *fullDisk) below(n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Int64N(max(n, 1))
}

// createOf creates a text push of that many bytes. If it is refused, the push must not
// be there.
func (d *fullDisk) createOf(bytes int64) error {
	p := &proctest.Push{Limit: 1 + int(d.below(4)), Owned: d.below(2) == 0, Deletable: true, Payload: strings.Repeat("secret ", int(bytes)/7)}
	err := d.Submit(p, nil)
	if isFull(err) {
		d.Ledger.RefusedCreate(p)
	}
	return err
}

// upload creates a push with a file of that many bytes.
func (d *fullDisk) upload(ctx context.Context, bytes int64) error {
	x := proctest.StoredFile{Seed: d.files.Seed(), Size: bytes}
	var err error
	if x.Token, err = d.filer.Push(ctx, proctest.Multipart, proctest.Content(x.Seed, x.Size)); err == nil {
		d.files.Add(x)
	}
	return err
}

// fill creates and uploads until the server refuses even the smallest push.
func (d *fullDisk) fill() {
	var all sync.WaitGroup
	for range fillers {
		all.Go(d.fillOne)
	}
	all.Wait()
	if d.refused[creates] == 0 || d.refused[uploads] == 0 {
		d.T.Errorf("refused were %d creates and %d uploads", d.refused[creates], d.refused[uploads])
	}
}

// mostText is the longest text to send. Up to four texts are written together, for
// which the space that is kept free must be enough.
func (d *fullDisk) mostText() int64 {
	if d.floor == 0 {
		return min(mostText, d.size/16)
	}
	return min(mostText, d.floor/16)
}

func (d *fullDisk) fillOne() {
	const most = 5000
	ctx, cancel := context.WithTimeout(d.T.Context(), proctest.Within(d.size))
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
	d.T.Error("the disk never became full")
}

// look uses a full disk. Above its floor there is room for views and deletes. At the
// last byte they may be refused, and then all must be as before.
func (d *fullDisk) look() {
	const most = 24
	for i, p := range d.Ledger.All() {
		if i >= most {
			break
		}
		d.note(views, d.viewFull(p))
		if err := d.Preview(p); err != nil {
			d.T.Errorf("on a full disk: preview: %v", err)
		}
		if i%8 == 0 {
			d.note(views, d.viewUp(p))
		}
	}
	for i, x := range d.files.All {
		if i < 3 {
			d.note(views, d.filer.Compare(d.T.Context(), x))
		}
	}
	for _, state := range []bool{true, false} {
		if err := d.Crowd.Look(state); err != nil {
			d.T.Errorf("on a full disk: list: %v", err)
		}
	}
	if d.floor > 0 && d.refused[views] > 0 {
		d.T.Errorf("%d views were refused, with %d bytes kept free for them", d.refused[views], d.floor)
	}
}

// viewFull retrieves a push. A view that is refused must not count.
func (d *fullDisk) viewFull(p *proctest.Push) error {
	_, err := d.View(p, false)
	if isFull(err) {
		d.Ledger.Refused(&p.Pending)
	}
	return err
}

// viewUp retrieves a push until its limit ends it.
func (d *fullDisk) viewUp(p *proctest.Push) error {
	for range p.Limit {
		if err := d.viewFull(p); err != nil {
			return err
		}
	}
	return nil
}

// makeRoom deletes half of the pushes; a disk without a floor is enlarged first.
func (d *fullDisk) makeRoom() {
	if d.floor == 0 {
		d.tryToDelete()
		d.grow()
	}
	all := d.Ledger.All()
	for i, p := range all {
		if i%2 != 0 {
			continue
		}
		if err := d.Remove(p); err != nil {
			d.T.Errorf("delete on a full disk: %v", err)
			return
		}
	}
	for i, x := range d.files.All {
		if i%2 == 0 {
			d.deleteFile(x)
		}
	}
	d.files.All = everySecond(d.files.All)
}

// grow enlarges the disk: bbolt cannot even delete if no page is free.
func (d *fullDisk) grow() {
	options := fmt.Sprintf("remount,size=%d", d.size+largestDisk)
	if out, err := exec.CommandContext(d.T.Context(), "mount", "-o", options, d.data()).CombinedOutput(); err != nil {
		d.T.Fatalf("remount: %v: %s", err, out)
	}
}

func everySecond(all []proctest.StoredFile) (kept []proctest.StoredFile) {
	for i := 1; i < len(all); i += 2 {
		kept = append(kept, all[i])
	}
	return kept
}

func (d *fullDisk) deleteFile(x proctest.StoredFile) {
	var r proctest.Record
	if err := d.Call(http.MethodDelete, proctest.PushesPath+"/"+x.Token, d.Bearer, nil, http.StatusOK, &r); err != nil {
		d.T.Errorf("delete of a file on a full disk: %v", err)
	}
}

// tryToDelete deletes a push at the last byte: the delete succeeds, or is refused
// without effect.
func (d *fullDisk) tryToDelete() {
	all := d.Ledger.All()
	if len(all) == 0 {
		d.T.Fatal("no create was acknowledged")
	}
	p := all[len(all)/2]
	err := d.Remove(p)
	d.note(deletes, err)
	if isFull(err) {
		d.Ledger.Refused(&p.Deletes)
	}
}
