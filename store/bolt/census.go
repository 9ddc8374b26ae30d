package bolt

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"pushbox/store/record"
)

// censusStep is how many rows are counted at a time, which takes a fraction of a
// millisecond.
const censusStep = 4096

// censusRows is about how many rows a page has: reading a page brings its neighbours
// into memory.
const censusRows = 64

// A census counts the live pushes. It walks their rows of the expiry index once, a step
// at a time, and passes over those that have ended in the journal; from the first step
// on, commits add what they do to pushes whose rows it has passed. Rows before it are
// still to be counted. DB.writing guards all but known.
type census struct {
	step  int    // rows counted while writers wait
	upTo  []byte // the row counted last; nil: none yet
	whole bool   // all rows were counted
	live  int64
	known atomic.Int64 // live, plus one; 0 until whole
}

// count is how many pushes are live; -1 until all were counted.
func (c *census) count() int64 { return c.known.Load() - 1 }

// weight is what a row of the expiry index adds to the count so far.
func (c *census) weight(row []byte) int64 {
	switch {
	case len(row) == 0 || record.ExpiryQueue(row[0]) != record.Expiring:
		return 0
	case c.whole || bytes.Compare(row, c.upTo) <= 0:
		return 1
	default:
		return 0
	}
}

// add adds what a commit did.
func (c *census) add(live int64) {
	c.live += live
	if c.whole {
		c.known.Store(c.live + 1)
	}
}

// countLive records for the census that a change of a push replaces its row of the
// expiry index by another, now or when the journal is folded. Nil means no row.
func (t *tx) countLive(from, to []byte) {
	if t.census != nil {
		t.live += t.census.weight(to) - t.census.weight(from)
	}
}

// CountLive counts the live pushes. Commits wait for its steps.
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

// countSome counts the rows of one step, and reports whether all were counted.
func (db *DB) countSome() (whole bool, err error) {
	db.writing.Lock()
	defer db.writing.Unlock()
	c := &db.census
	if c.whole {
		return true, nil
	}
	h := db.enter()
	if h == nil {
		return false, record.ErrClosed
	}
	defer h.leave()
	if err := h.read(func(t *tx) error {
		t.overlay = db.journal.latest(nil)
		return c.walk(t)
	}); err != nil {
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
	queue, last := []byte{byte(record.Expiring)}, bytes.Clone(c.upTo)
	cursor := t.cursor(expiry)
	k, _ := cursor.Seek(append(last, 0)) // the row behind it
	n, live := 0, int64(0)
	for ; n < c.step && bytes.HasPrefix(k, queue); n++ {
		if bytes.Compare(k, last) <= 0 {
			return fmt.Errorf("%w: rows of %s are not in order", record.ErrCorrupt, expiry)
		}
		ended, err := t.overlay.ended(lastID(k))
		if err != nil {
			return err
		}
		if !ended {
			live++
		}
		last = append(last[:0], k...)
		k, _ = cursor.Next()
	}
	c.live, c.upTo, c.whole = c.live+live, last, n < c.step
	t.noteRead(n / censusRows * pageCluster)
	if c.whole {
		t.dropMapped()
	}
	return nil
}
