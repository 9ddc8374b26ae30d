package disk

import (
	"context"
	"time"

	"pushbox/internal/proctest"
)

// fillAgain creates and uploads again, without a restart: a small push as soon as half
// the pushes are deleted, larger ones when enough are.
func (d *fullDisk) fillAgain() {
	ctx, cancel := context.WithTimeout(d.T.Context(), proctest.Patience)
	defer cancel()
	d.wait(ctx, func() error { return d.createOf(edgeBytes) }, func() {})
	if records := int64(len(d.Ledger.All())) * recordBytes; records > (d.size-d.floor)/4 {
		return // the records that deletes leave take too much of the disk
	}
	d.wait(ctx, func() error { return d.createOf(d.mostText() / 2) }, d.deleteMore)
	d.wait(ctx, func() error { return d.upload(ctx, d.mostText()/2) }, d.deleteMore)
}

// wait repeats something until there is room for it, and calls more in between. The
// room of files comes back a moment after their delete.
func (d *fullDisk) wait(ctx context.Context, again func() error, more func()) {
	for {
		err := again()
		if err == nil {
			return
		}
		if !isFull(err) {
			d.T.Errorf("after there was room: %v", err)
			return
		}
		more()
		select {
		case <-ctx.Done():
			d.T.Errorf("there is no room again: %v", err)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// deleteMore deletes another file, or some pushes, or nothing if all are deleted.
func (d *fullDisk) deleteMore() {
	if n := len(d.files.All); n > 0 {
		d.deleteFile(d.files.All[n-1])
		d.files.All = d.files.All[:n-1]
		return
	}
	const some = 10
	deleted := 0
	for _, p := range d.Ledger.All() {
		if p.Deletes == 0 && deleted < some {
			d.note(deletes, d.Remove(p))
			deleted++
		}
	}
}

// verifyAll compares all pushes with what was acknowledged: all of that is there, and
// nothing that was refused.
func (d *fullDisk) verifyAll() {
	d.Verify(d.Ledger.All())
	names := make(map[string]bool)
	for _, p := range d.Ledger.All() {
		names[p.Name] = true
	}
	for _, state := range []string{"active", "expired"} {
		for page := 1; ; page++ {
			l, err := d.List(state, page)
			if err != nil {
				d.T.Errorf("list: %v", err)
			}
			for _, r := range l {
				if r.Name != "" && !names[r.Name] { // files have none
					d.T.Errorf("%s was refused, and it is there", r.Name)
				}
			}
			if len(l) < proctest.PerPage {
				break
			}
		}
	}
	for _, x := range d.files.All {
		if err := d.filer.Compare(d.T.Context(), x); err != nil {
			d.T.Errorf("a file of %d bytes: %v", x.Size, err)
		}
	}
}
