package bolt

import (
	"fmt"

	"pushbox/store"
)

// measure refuses a compaction whose copy would not fit beside the file.
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

// wantFree refuses to write n more bytes if after that there would be no room for
// views, expiry and deletes. What creates leave free may be used for a while: on a
// full disk nothing else gives room back.
func (c *compaction) wantFree(n int64) error {
	free, known, err := c.free(c.db.limits.dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", c.db.limits.dir, err)
	}
	if need := n + copyReserve; known && free < need {
		return fmt.Errorf("%w: a compaction needs %s free on the file system of the database, and %s are",
			store.ErrFull, mebibytes(need), mebibytes(free))
	}
	return nil
}

// mebibytes is n for people to read, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
