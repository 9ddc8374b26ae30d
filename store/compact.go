package store

import (
	"context"
	"errors"
	"time"
)

// Compact gives the space that the file does not use back to the file system,
// and returns the size of the file before and after, in bytes. It calls
// progress, from one goroutine, with bytes done and bytes in all. ErrBusy if a
// compaction runs, ErrFull if there is no room for a copy of what is in use.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) (before, after int64, err error) {
	was, err := s.engine.Space(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := s.freeOrphans(ctx); err != nil { // or they would be copied, too
		return was.Size, 0, err
	}
	if err := s.engine.Compact(ctx, progress); err != nil {
		return was.Size, 0, err
	}
	is, err := s.engine.Space(ctx)
	return was.Size, is.Size, err
}

const (
	tidyRest = time.Minute // between two looks at how much is unused
	busyRest = 10 * time.Minute
	leastGap = 64 << 20 // bytes unused below which compacting is not worth it
)

// Tidy compacts the file if at least half of it, and 64 MiB, is unused, and
// returns how long to wait before the next time.
func (s *Store) Tidy(ctx context.Context) (wait time.Duration, err error) {
	space, err := s.engine.Space(ctx)
	if err != nil || space.Unused < leastGap || space.Unused < space.Size/2 {
		return tidyRest, err
	}
	err = s.engine.Compact(ctx, func(int64, int64) {})
	if errors.Is(err, ErrBusy) { // somebody does it by hand, or so much is written that it must wait
		return busyRest, nil
	}
	return tidyRest, err
}
