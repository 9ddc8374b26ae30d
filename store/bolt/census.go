package bolt

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"pushbox/store"
)

// censusStep is how many rows are counted at a time, which takes a fraction of a
// millisecond.
const censusStep = 4096

// censusRows is how many rows there are in a page, about: each page brings others
// into memory that nobody needs.
const censusRows = 64

// A census knows how many pushes are live. It walks their rows of the expiry index
// once, a step at a time, and from the first step on takes note of what commits do to the
// rows that it has behind it; those before it are yet to be met. Guarded by
// DB.writing, but for known.
type census struct {
	step  int    // rows counted while writers wait
	upTo  []byte // the row counted last; nil: none was
	whole bool   // it has met all of them
	live  int64
	known atomic.Int64 // live, plus one; 0 until whole
}

// told is how many pushes are live; -1 until all were counted.
func (c *census) told() int64 { return c.known.Load() - 1 }

// share is what a row of the expiry index counts for so far.
func (c *census) share(row []byte) int64 {
	switch {
	case len(row) == 0 || store.Shelf(row[0]) != store.Expiring:
		return 0
	case c.whole || bytes.Compare(row, c.upTo) <= 0:
		return 1
	default:
		return 0
	}
}

// add takes note of what a commit has done.
func (c *census) add(live int64) {
	c.live += live
	if c.whole {
		c.known.Store(c.live + 1)
	}
}

// countLive notes, for the census, that a row of the expiry index is replaced by
// another. Nil stands for no row.
func (t *tx) countLive(from, to []byte) {
	if t.census != nil {
		t.live += t.census.share(to) - t.census.share(from)
	}
}

// CountLive counts the live pushes. Commits wait for a step of it now and then.
func (db *DB) CountLive(ctx context.Context) error {
	for {
		if err := db.admit(ctx); err != nil {
			return err
		}
		if whole, err := db.countSome(); whole || err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// countSome counts some more rows, and reports whether those were the last.
func (db *DB) countSome() (whole bool, err error) {
	db.writing.Lock()
	defer db.writing.Unlock()
	c := &db.census
	if c.whole {
		return true, nil
	}
	h := db.enter()
	if h == nil {
		return false, store.ErrClosed
	}
	defer h.leave()
	if err := h.read(c.walk); err != nil {
		if h.noteDamage(err) {
			return false, db.fail(err)
		}
		return false, err
	}
	c.add(0)
	return c.whole, nil
}

// walk counts the next rows.
func (c *census) walk(t *tx) error {
	shelf, last := []byte{byte(store.Expiring)}, bytes.Clone(c.upTo)
	cursor := t.cursor(expiry)
	k, _ := cursor.Seek(append(last, 0)) // what comes behind it
	n := 0
	for ; n < c.step && bytes.HasPrefix(k, shelf); n++ {
		if bytes.Compare(k, last) <= 0 {
			return fmt.Errorf("%w: rows of %s are not in order", store.ErrCorrupt, expiry)
		}
		last = append(last[:0], k...)
		k, _ = cursor.Next()
	}
	c.live, c.upTo, c.whole = c.live+int64(n), last, n < c.step
	t.noteRead(n / censusRows * pageCluster)
	if c.whole {
		t.dropMapped()
	}
	return nil
}
