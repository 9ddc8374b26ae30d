package bolt

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// copyFill is how full the copy's pages are left: rows come in order, and later
// ones in between need some room.
const copyFill = 0.9

// openCopy opens a new file. It is synced when the compaction says so, and it
// grows by what is written only, not ahead.
func openCopy(path string) (*handle, error) {
	h, err := openHandle(path, bbolt.Options{Timeout: defaultTimeout, NoSync: true, NoGrowSync: true},
		func(*os.File) error { return nil })
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

// write runs fn in a transaction that is not synced, and notes its number.
func (h *handle) write(fn func(*tx) error) error {
	h.chooseList()
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

// sync makes the copy durable as far as it is, and sees whether there is room
// for it to go on.
func (c *compaction) sync() error {
	c.unsynced = 0
	if err := c.to.file.Sync(); err != nil {
		return fmt.Errorf("sync the copy: %w", err)
	}
	return c.wantFree(0)
}
