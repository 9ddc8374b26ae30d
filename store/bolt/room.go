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
	bound string // what it is that bounds it
}

// take refuses a create of n bytes if there is no room for it. Nothing but
// creates asks: views, expiry and deletes go on in what is kept free.
func (t *tx) take(n int, l limits, free freeSpace) error {
	if !t.room.known {
		var err error
		if t.room, err = t.roomLeft(l, free); err != nil {
			return err
		}
	}
	if int64(n) > t.room.left {
		return fmt.Errorf("%w: %s", store.ErrFull, t.room.bound)
	}
	t.room.left -= int64(n)
	return nil
}

// A freeSpace tells how many bytes of a directory's file system are free for
// us; false where that is not known.
type freeSpace func(dir string) (int64, bool, error)

// roomLeft is how many bytes a transaction may bring in before it reaches a limit.
func (t *tx) roomLeft(l limits, free freeSpace) (room, error) {
	r := room{known: true, left: math.MaxInt64}
	stats := t.bolt.DB().Stats()
	unused := int64(stats.FreePageN+stats.PendingPageN) * int64(t.bolt.DB().Info().PageSize)
	if l.maxSize > 0 {
		r.left, r.bound = l.maxSize-(t.bolt.Size()-unused), "the database has its largest size"
	}
	if l.minFree > 0 {
		bytes, known, err := free(l.dir)
		if err != nil {
			return room{}, fmt.Errorf("free space of %s: %w", l.dir, err)
		}
		if left := bytes + unused - l.minFree; known && left < r.left {
			r.left, r.bound = left, "too little of its file system is free"
		}
	}
	return r, nil
}
