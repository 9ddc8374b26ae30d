package bolt

import (
	"context"
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

// SetRoom bounds what may be put into the file from the next transaction on.
func (db *DB) SetRoom(r store.Room) {
	db.limits.Store(&limits{dir: db.limits.Load().dir, maxSize: r.MaxSize, minFree: r.MinFree})
}

// room is what creates of one transaction may still bring.
type room struct {
	known bool
	left  int64
	gaps  int64  // of that, in pages between others, where nothing long fits
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
	return t.room.give(int64(n), 0)
}

// takeLong is take for chunks of files, which do not fit into gaps.
func (t *tx) takeLong(n int, l limits, free freeSpace) error {
	if err := t.take(0, l, free); err != nil {
		return err
	}
	return t.room.give(int64(n), t.room.gaps)
}

func (r *room) give(n, gaps int64) error {
	if n > r.left-gaps {
		return fmt.Errorf("%w: %s", store.ErrFull, r.bound)
	}
	r.left -= n
	return nil
}

// mostGaps says which part of a file may be gaps: a quarter was seen after long
// uploads at the same time. Where more is unused, chunks fit.
const mostGaps = 4

// A freeSpace tells how many bytes of a directory's file system are free for
// us; false where that is not known.
type freeSpace func(dir string) (int64, bool, error)

// roomLeft is how many bytes a transaction may bring in before it reaches a limit.
func (t *tx) roomLeft(l limits, free freeSpace) (room, error) {
	r := room{known: true, left: math.MaxInt64}
	unused := t.unused()
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
			r.gaps = min(unused, t.bolt.Size()/mostGaps)
		}
	}
	return r, nil
}

// unused is how many bytes of the file are in pages that nothing is in, as of
// the last commit.
func (t *tx) unused() int64 {
	s := t.bolt.DB().Stats()
	return int64(s.FreePageN+s.PendingPageN) * int64(t.bolt.DB().Info().PageSize)
}

// Space tells how large the file is, and how much of it is in pages that nothing
// is in.
func (db *DB) Space(ctx context.Context) (s store.Space, err error) {
	err = db.view(ctx, func(t *tx) error {
		info, err := t.file().Stat()
		if err != nil {
			return fmt.Errorf("size of the database: %w", err)
		}
		s = store.Space{Size: info.Size(), Unused: t.unused()}
		return nil
	})
	return s, err
}
