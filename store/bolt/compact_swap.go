package bolt

import (
	"bytes"
	"errors"
	"fmt"

	"pushbox/store/record"
)

// catchUp copies what was written meanwhile, again and again, until so little is left
// that commits can wait for the rest.
func (c *compaction) catchUp() error {
	bound := c.bounds.rest
	for range c.bounds.rounds {
		if err := c.interrupted(); err != nil {
			return err
		}
		if err := c.sync(); err != nil {
			return err
		}
		rest, err := c.completeWithin(bound)
		if rest == nil || err != nil {
			return err
		}
		if err := c.copyChanges(rest); err != nil {
			return err
		}
		bound = min(2*bound, c.bounds.maxRest)
	}
	return fmt.Errorf("%w: it is written faster than it is copied", record.ErrBusy)
}

// completeWithin completes the copy if no more than bound bytes are left to copy. Else
// it returns what is left.
func (c *compaction) completeWithin(bound int64) (rest *changes, err error) {
	c.db.writing.Lock()
	defer c.db.writing.Unlock()
	rest = c.changes
	if !rest.exceed(bound) {
		return nil, c.complete(rest)
	}
	c.changes = newChanges()
	c.db.changes = c.changes
	return rest, nil
}

// complete copies the rest and puts the copy to its use. No commit runs meanwhile.
func (c *compaction) complete(rest *changes) error {
	if err := c.interrupted(); err != nil {
		return err
	}
	for rows := rest.sorted(); len(rows) > 0; {
		if err := c.copyRows(&rows); err != nil {
			return err
		}
	}
	if err := c.read(c.copySequences); err != nil {
		return err
	}
	if err := c.to.file.Sync(); err != nil {
		return fmt.Errorf("sync the copy: %w", err)
	}
	return c.finish()
}

// copySequences gives the buckets of the copy their sequences, and verifies that they
// begin and end as those of the file.
func (c *compaction) copySequences(from *tx) error {
	return c.to.write(func(to *tx) error {
		for b := range bucketCount {
			if err := to.bucket(b).SetSequence(from.bucket(b).Sequence()); err != nil {
				return err
			}
			if !sameEnds(from, to, b) {
				return fmt.Errorf("the copy of %s does not have its first or last row", b)
			}
		}
		return nil
	})
}

func sameEnds(from, to *tx, b bucket) bool {
	x, y := from.stored(b), to.stored(b)
	firstX, _ := x.First()
	firstY, _ := y.First()
	lastX, _ := x.Last()
	lastY, _ := y.Last()
	return bytes.Equal(firstX, firstY) && bytes.Equal(lastX, lastY)
}

// swap gives the copy the name of the file and makes it what readers and writers use.
// The old file is closed when its last reader has left.
func (c *compaction) swap() error {
	db, from := c.db, c.from
	if named, err := from.isNamed(db.path); err != nil || !named {
		return errors.Join(errors.New("the database is no longer there under its name"), err)
	}
	replaced, err := c.replace(c.temp, db.path)
	switch {
	case err != nil && replaced:
		return db.fail(fmt.Errorf("replace the database: %w", err))
	case err != nil:
		return fmt.Errorf("replace the database: %w", err)
	}
	c.to.bolt.NoSync, c.to.bolt.NoGrowSync = false, false
	db.changes, c.kept = nil, true
	db.current.Store(c.to)
	db.wakeEraser() // rows were copied that are gone meanwhile
	db.replaced.Go(func() {
		defer close(c.gone)
		_ = from.closeAfter((*handle).scrub) // its content no longer matters
	})
	return nil
}
