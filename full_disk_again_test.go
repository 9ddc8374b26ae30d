package main

import (
	"context"
	"time"
)

// fillAgain creates and uploads once more, without a restart: what is small as soon
// as half was deleted, what is long when enough was.
func (d *fullDisk) fillAgain() {
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	d.wait(ctx, func() error { return d.createOf(edgeBytes) }, func() {})
	if records := int64(len(d.ledger.all())) * recordBytes; records > (d.size-d.floor)/4 {
		return // what deletes leave for the owner to see takes too much of the disk
	}
	d.wait(ctx, func() error { return d.createOf(d.mostText() / 2) }, d.deleteMore)
	d.wait(ctx, func() error { return d.upload(ctx, d.mostText()/2) }, d.deleteMore)
}

// wait does something until there is room for it. The room of files comes back a
// moment after their delete.
func (d *fullDisk) wait(ctx context.Context, again func() error, more func()) {
	for {
		err := again()
		if err == nil {
			return
		}
		if !isFull(err) {
			d.t.Errorf("after there was room: %v", err)
			return
		}
		more()
		select {
		case <-ctx.Done():
			d.t.Errorf("there is no room again: %v", err)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// deleteMore deletes another file, or some pushes, or nothing where all are gone.
func (d *fullDisk) deleteMore() {
	if n := len(d.files.all); n > 0 {
		d.deleteFile(d.files.all[n-1])
		d.files.all = d.files.all[:n-1]
		return
	}
	const some = 10
	deleted := 0
	for _, p := range d.ledger.all() {
		if p.deletes == 0 && deleted < some {
			d.note(deletes, d.remove(p))
			deleted++
		}
	}
}

// verifyAll compares everything with what was acknowledged: that is there, and
// nothing that was refused.
func (d *fullDisk) verifyAll() {
	d.verify(d.ledger.all())
	names := make(map[string]bool)
	for _, p := range d.ledger.all() {
		names[p.name] = true
	}
	for _, state := range []string{"active", "expired"} {
		for page := 1; ; page++ {
			l, err := d.list(state, page)
			if err != nil {
				d.t.Errorf("list: %v", err)
			}
			for _, r := range l {
				if r.Name != "" && !names[r.Name] { // files have none
					d.t.Errorf("%s was refused and is there", r.Name)
				}
			}
			if len(l) < perPage {
				break
			}
		}
	}
	for _, x := range d.files.all {
		if err := d.filer.compare(d.t.Context(), x); err != nil {
			d.t.Errorf("a file of %d bytes: %v", x.size, err)
		}
	}
}
