package store

import (
	"context"
	"errors"
	"time"

	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// Compact gives the unused space of the file back to the file system, and returns the
// size of the file before and right after, in bytes. It calls progress, from one goroutine,
// with bytes done and bytes in all. ErrBusy if a compaction or a backup runs; ErrFull
// if there is no room for the copy that it makes; ErrDenied for a client.
func (s *Store) Compact(ctx context.Context, by Actor, progress func(done, total int64)) (before, after int64, err error) {
	if err := s.as(by).may(0); err != nil {
		return 0, 0, err
	}
	was, err := s.engine.Space(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := s.freeOrphans(ctx); err != nil { // or they would be copied, too
		return was.Size, 0, err
	}
	is, err := s.compact(ctx, by, was, progress)
	return was.Size, is, err
}

// compact compacts the file, adds the event, and returns the size.
func (s *Store) compact(ctx context.Context, by Actor, was record.Space, progress func(done, total int64)) (int64, error) {
	if err := s.engine.Compact(ctx, progress); err != nil {
		return 0, err
	}
	is, err := s.engine.Space(ctx)
	if err != nil {
		return 0, err
	}
	detail := humanize.Size(was.Size) + " before, " + humanize.Size(is.Size) + " after"
	return is.Size, s.as(by).note(ctx, record.AdminCompact, matter{detail: detail})
}

const (
	tidyRest = time.Minute // between two checks of how much is unused
	busyRest = 10 * time.Minute
	leastGap = 64 << 20 // bytes unused below which compacting is not worth it
)

// CompactIfNeeded compacts the file if at least half of it, and at least 64 MiB, is
// unused. It returns how long to wait before the next call.
func (s *Store) CompactIfNeeded(ctx context.Context) (wait time.Duration, err error) {
	space, err := s.engine.Space(ctx)
	if err != nil || space.Unused < leastGap || space.Unused < space.Size/2 {
		return tidyRest, err
	}
	_, err = s.compact(ctx, Actor{Role: System}, space, func(int64, int64) {})
	if errors.Is(err, record.ErrBusy) { // another one runs, or it cannot keep up with writes
		return busyRest, nil
	}
	return tidyRest, err
}
