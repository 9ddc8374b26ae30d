package bolt

import (
	"fmt"
	"time"

	"pushbox/store"
)

// copyPending copies what others have written, once it is enough.
func (c *compaction) copyPending() error {
	if !c.changes.exceed(c.bounds.pending) {
		return nil
	}
	past := c.changes
	c.record(newChanges())
	return c.copyChanges(past)
}

// copyChanges copies rows as they are now, but those that will be copied in
// their turn. Where others write faster than it copies, so that ever more is left
// each time, they have to wait for it now and then.
func (c *compaction) copyChanges(past *changes) error {
	if past.lost.Load() {
		return fmt.Errorf("%w: more was written than a compaction can keep up with", store.ErrBusy)
	}
	step := c.copyRows
	if past.exceed(c.bounds.behind) {
		step = c.copyHeld
	}
	for rows := past.sorted(); len(rows) > 0; {
		if err := c.proceed(); err != nil {
			return err
		}
		if err := step(&rows); err != nil {
			return err
		}
	}
	return nil
}

// copyHeld copies rows for some time in which nobody writes. Between two times
// there is a commit.
func (c *compaction) copyHeld(rows *[]string) error {
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

// copyRows copies a batch of rows, which it takes off the front.
func (c *compaction) copyRows(rows *[]string) error {
	c.batch.reset()
	err := c.look(func(t *tx) error {
		n, err := c.readChanged(t, *rows)
		*rows = (*rows)[n:]
		return err
	})
	if err != nil || len(c.batch.rows) == 0 {
		return err
	}
	return c.writeBatch()
}

// readChanged takes rows into the batch until that is full, and returns how many
// it dealt with.
func (c *compaction) readChanged(t *tx, rows []string) (n int, err error) {
	for ; n < len(rows) && !c.batch.full(c.bounds); n++ {
		b, key := bucket(rows[n][0]), []byte(rows[n][1:])
		if c.at.ahead(b, key) {
			continue
		}
		if v := t.get(b, key); v == nil {
			c.batch.remove(b, key)
		} else if err := c.batch.add(t, b, key, v); err != nil {
			return n, err
		}
	}
	return n, nil
}
