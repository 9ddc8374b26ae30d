package bolt

import (
	"fmt"
	"math"

	"pushbox/store"
)

// limits say how much may be put into the file.
type limits struct {
	dir     string
	maxSize int64 // 0: no limit
	minFree int64 // 0: no limit
}

// room is what creates of one transaction may still bring.
type room struct {
	known bool
	left  int64
}

// take refuses a create of n bytes if there is no room for it. Nothing but
// creates asks: views, expiry and deletes go on in what is kept free.
func (t *tx) take(n int, l limits, free freeSpace) error {
	if !t.room.known {
		left, err := t.roomLeft(l, free)
		if err != nil {
			return err
		}
		t.room = room{known: true, left: left}
	}
	if int64(n) > t.room.left {
		return store.ErrFull
	}
	t.room.left -= int64(n)
	return nil
}

// A freeSpace tells how many bytes of a directory's file system are free for
// us; false where that is not known.
type freeSpace func(dir string) (int64, bool, error)

// roomLeft is how many bytes a transaction may bring in before it reaches a limit.
func (t *tx) roomLeft(l limits, free freeSpace) (int64, error) {
	left := int64(math.MaxInt64)
	stats := t.bolt.DB().Stats()
	unused := int64(stats.FreePageN+stats.PendingPageN) * int64(t.bolt.DB().Info().PageSize)
	if l.maxSize > 0 {
		left = l.maxSize - (t.bolt.Size() - unused)
	}
	if l.minFree > 0 {
		bytes, known, err := free(l.dir)
		if err != nil {
			return 0, fmt.Errorf("free space of %s: %w", l.dir, err)
		}
		if known {
			left = min(left, bytes+unused-l.minFree)
		}
	}
	return left, nil
}
