package bolt

import (
	"context"
	"time"

	"pushbox/store/record"
)

// erasedLook is the time from one look at the eraser to the next.
const erasedLook = 50 * time.Millisecond

// AwaitErased waits until the end of a push is folded into its place, and then until each page that
// was free and not erased at that moment has been erased, or used again and erased since. It reads
// no page back. The file that a compaction replaced is erased apart from that, when its last reader
// has left.
func (db *DB) AwaitErased(ctx context.Context, id record.ID) error {
	var left *pageSet
	var of *handle
	look := time.NewTicker(erasedLook)
	defer look.Stop()
	for {
		over := db.journal.overlay()
		if waits, err := over.ended(id); err == nil && !waits {
			h := db.lookErased(&left, of)
			if of = h; left.count == 0 {
				return nil
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-db.closing:
			return record.ErrClosed
		case <-db.failed:
			return db.refusal()
		}
	}
}

// lookErased removes from left what the eraser of the present handle has erased, and returns that
// handle. If that is not of, left becomes all that it has not erased yet.
func (db *DB) lookErased(left **pageSet, of *handle) *handle {
	db.writing.Lock()
	defer db.writing.Unlock()
	h := db.current.Load()
	now := h.eraser.pending()
	if h != of || (*left).has(anyPage) && !now.has(anyPage) {
		*left = now
		return h
	}
	for id, ok := (*left).next(0); ok; id, ok = (*left).next(id + 1) {
		if !now.has(id) {
			(*left).remove(id)
		}
	}
	if (*left).count == 0 && h.eraser.unsynced > 0 && h.synced.Load() <= h.eraser.synced {
		(*left).add(unsyncedPage)
	}
	return h
}

// Numbers of pages that an eraser never has: a file begins with its two headers.
const (
	anyPage      = 0 // means free pages that it does not know yet
	unsyncedPage = 1 // means overwritten bytes that are not on the disk yet
)

// pending returns the pages that are not erased yet. DB.writing is held.
func (e *eraser) pending() *pageSet {
	all := new(pageSet)
	for _, known := range [...]*pageSet{&e.fresh, &e.aged, &e.round, &e.unknown} {
		for id, ok := known.next(0); ok; id, ok = known.next(id + 1) {
			all.add(id)
		}
	}
	if e.stale {
		for _, id := range e.last {
			all.add(id)
		}
	}
	if e.all {
		all.add(anyPage)
	}
	return all
}
