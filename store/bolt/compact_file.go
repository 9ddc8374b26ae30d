package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"pushbox/internal/durable"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// copyFill is how full pages of the copy are left: rows come in order, and later ones
// in between need some space.
const copyFill = 0.9

// openCopy opens a new file. It is synced only when the compaction says so, and it does
// not grow ahead of its use.
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

// sync makes the copy durable so far, and checks that there is space to continue.
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

// wantFree refuses to write n more bytes where that would leave too little for views,
// expiry and deletes. A compaction may use what the limits keep free from creates: on a
// full disk nothing else gives space back.
func (c *compaction) wantFree(n int64) error {
	return wantFree(c.free, filepath.Dir(c.path), n)
}

func wantFree(free freeSpace, dir string, n int64) error {
	bytes, known, err := free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need := n + copyReserve; known && bytes < need {
		return fmt.Errorf("%w: the copy needs %s free on the file system of %s, %s more than there is",
			record.ErrFull, humanize.Size(need), dir, humanize.Size(need-bytes))
	}
	return nil
}

// CheckSpace returns record.ErrFull where so little of dir's file system is free that a
// large copy must give way to the database that may be on it.
func CheckSpace(dir string) error { return wantFree(durable.FreeSpace, dir, 0) }
