package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"go.etcd.io/bbolt"

	"pushbox/internal/durable"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// copyFill is the fill of pages in the copy: rows are written in order, and later rows between them
// need some space.
const copyFill = 0.9

// openCopy opens a new file. bbolt syncs it only when the compaction asks for it, and does not
// enlarge it in advance.
func openCopy(path string) (*handle, error) {
	h, err := openHandle(path, bbolt.Options{Timeout: defaultTimeout, NoSync: true, NoGrowSync: true}, anyFile)
	if err != nil {
		return nil, err
	}
	err = h.write(func(t *tx) error {
		for _, name := range bucketNames {
			if _, err := t.bolt.CreateBucket(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// write runs fn in a transaction that is not synced, and records its number.
func (h *handle) write(fn func(*tx) error) error {
	h.chooseFreeList()
	err := guard(func() error {
		return h.bolt.Update(func(b *bbolt.Tx) error {
			h.synced.Store(int64(b.ID()))
			return fn(&tx{bolt: b, handle: h})
		})
	})
	h.unlisted = h.bolt.NoFreelistSync
	h.noteDamage(err)
	return err
}

// writeBatch writes the batch to the copy and reads it back.
func (c *compaction) writeBatch() error {
	err := c.to.write(func(t *tx) error {
		for _, r := range c.batch.rows {
			if err := put(t, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.to.read(func(t *tx) error {
		defer t.dropMapped()
		return c.batch.compare(t)
	})
	if err != nil {
		return c.damage(c.to, err)
	}
	if c.unsynced += int64(c.batch.bytes); c.unsynced < c.bounds.unsynced {
		return nil
	}
	return c.sync()
}

func put(t *tx, r row) error {
	b := t.bucket(r.bucket)
	if r.gone {
		return b.Delete(r.key)
	}
	b.FillPercent = copyFill
	return b.Put(r.key, r.value)
}

// sync makes the written part of the copy durable, and checks that there is space to continue.
func (c *compaction) sync() error {
	c.unsynced = 0
	if err := c.to.file.Sync(); err != nil {
		return fmt.Errorf("sync the copy: %w", err)
	}
	return c.wantFree(0)
}

// measure refuses to begin a copy for which there is no space.
func (c *compaction) measure() error {
	err := c.from.read(func(t *tx) error {
		c.total = t.bolt.Size() - t.unused()
		return nil
	})
	if err != nil {
		return c.damage(c.from, err)
	}
	return c.wantFree(c.total + c.total/8)
}

// wantFree refuses to write n more bytes if that would leave too little for views, expiry and
// deletes. A compaction may use the space that creates may not: on a full disk nothing else gives
// space back.
func (c *compaction) wantFree(n int64) error {
	return wantFree(c.free, filepath.Dir(c.path), n)
}

func wantFree(free freeSpace, dir string, n int64) error {
	bytes, known, err := free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need := n + copyReserve; known && bytes < need {
		return fmt.Errorf("%w: the copy needs %s free on the file system of %s, %s more than is free",
			record.ErrFull, humanize.Size(need), dir, humanize.Size(need-bytes))
	}
	return nil
}

// CheckSpace returns record.ErrFull if dir's file system has too little space for a large copy,
// because the database may be on the same one.
func CheckSpace(dir string) error { return wantFree(durable.FreeSpace, dir, 0) }

// catchUp repeatedly copies what was written meanwhile, until so little is left that commits can
// wait for the rest.
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
	return fmt.Errorf("%w: writes arrive faster than they can be copied", record.ErrBusy)
}

// completeWithin completes the copy if at most bound bytes are left to copy. Otherwise it returns
// the number of bytes left.
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

// complete copies the rest and installs the copy. No commit runs meanwhile.
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

// copySequences copies the sequences of buckets, and verifies that each bucket of the copy has the
// first and last row of the original.
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
	db.wakeEraser() // rows were copied that commits removed meanwhile
	db.replaced.Go(func() {
		defer close(c.gone)
		_ = from.closeAfter((*handle).scrub) // its content no longer matters
	})
	return nil
}
