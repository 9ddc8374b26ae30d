package bolt

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"pushbox/store/record"
)

// copyPending copies what commits have written, once that is enough.
func (c *compaction) copyPending() error {
	if !c.changes.exceed(c.bounds.pending) {
		return nil
	}
	past := c.changes
	c.record(newChanges())
	return c.copyChanges(past)
}

// copyChanges copies rows as they are now, except those that copyAll will still reach. If commits
// write faster than it copies, they have to wait now and then.
func (c *compaction) copyChanges(past *changes) error {
	if past.lost.Load() {
		return fmt.Errorf("%w: writes arrive faster than a compaction can copy them", record.ErrBusy)
	}
	step := c.copyRows
	if past.exceed(c.bounds.behind) {
		step = c.copyBlocking
	}
	for rows := past.sorted(); len(rows) > 0; {
		if err := c.interrupted(); err != nil {
			return err
		}
		if err := step(&rows); err != nil {
			return err
		}
	}
	return nil
}

// copyBlocking copies rows for some time while commits wait. A commit runs between two such times.
func (c *compaction) copyBlocking(rows *[]string) error {
	c.db.writing.Lock()
	defer c.db.writing.Unlock()
	for end := time.Now().Add(c.bounds.hold); len(*rows) > 0; {
		if err := c.copyRows(rows); err != nil {
			return err
		}
		if !time.Now().Before(end) {
			return nil
		}
	}
	return nil
}

// copyRows copies a batch of rows and removes them from the front of rows.
func (c *compaction) copyRows(rows *[]string) error {
	c.batch.reset()
	err := c.read(func(t *tx) error {
		n, err := c.readChanged(t, *rows)
		*rows = (*rows)[n:]
		return err
	})
	if err != nil || len(c.batch.rows) == 0 {
		return err
	}
	return c.writeBatch()
}

// readChanged adds rows to the batch until that is full, and returns how many it
// handled.
func (c *compaction) readChanged(t *tx, rows []string) (n int, err error) {
	for ; n < len(rows) && !c.batch.full(c.bounds); n++ {
		b, key := bucket(rows[n][0]), []byte(rows[n][1:])
		if c.at.ahead(b, key) {
			continue
		}
		if v, ok := t.findStored(b, key); !ok {
			c.batch.remove(b, key)
		} else if err := c.batch.add(t, b, key, v); err != nil {
			return n, err
		}
	}
	return n, nil
}

const (
	rowMemory  = 96       // approximate memory for a row beside its key, in bytes
	maxChanges = 48 << 20 // memory for rows
)

// changes are the rows that were written since the compaction last copied changes. DB.writing
// guards all fields but the sizes.
type changes struct {
	rows   map[string]int // bucket and key → length of the value
	key    []byte         // buffer for a key of rows
	memory atomic.Int64   // approximate memory of rows, in bytes
	bytes  atomic.Int64   // of keys and values
	lost   atomic.Bool    // there were too many: rows is incomplete
}

func newChanges() *changes { return &changes{rows: make(map[string]int)} }

// note records that a row was written, or is about to be. A value of length 0 also
// means a deletion.
func (c *changes) note(b bucket, key []byte, value int) {
	if c == nil || c.lost.Load() {
		return
	}
	c.key = append(append(c.key[:0], byte(b)), key...)
	old, known := c.rows[string(c.key)]
	c.bytes.Add(int64(value - old))
	if known && old == value {
		return
	}
	c.rows[string(c.key)] = value
	if known {
		return
	}
	c.bytes.Add(int64(len(key)))
	if c.memory.Add(int64(len(key)+rowMemory)) > maxChanges {
		c.lost.Store(true)
		c.rows = nil
	}
}

// exceed reports whether the written rows, or the memory for them, exceed n bytes.
func (c *changes) exceed(n int64) bool { return max(c.bytes.Load(), c.memory.Load()) > n }

// sorted returns the buckets and keys of the rows, in order.
func (c *changes) sorted() []string { return slices.Sorted(maps.Keys(c.rows)) }
