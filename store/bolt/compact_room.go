package bolt

import (
	"fmt"
	"path/filepath"

	"pushbox/store"
)

// measure refuses to begin a copy for which there is no room.
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
	return wantFree(c.free, filepath.Dir(c.path), n)
}

func wantFree(free freeSpace, dir string, n int64) error {
	bytes, known, err := free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need := n + copyReserve; known && bytes < need {
		return fmt.Errorf("%w: the copy needs %s free on the file system of %s, and %s are",
			store.ErrFull, mebibytes(need), dir, mebibytes(bytes))
	}
	return nil
}

// Room returns store.ErrFull where the file system of dir has so little free that
// whoever copies something large must give way to the database that may be on it.
func Room(dir string) error { return wantFree(freeBytes, dir, 0) }

// mebibytes is n for people to read, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
