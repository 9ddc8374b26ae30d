package store

import (
	"context"
	"time"

	"pushbox/store/record"
)

// RemoveCopies removes what upgrades have kept of the older store, CopiesStay after
// them. It returns how many files that were, and how long to wait before the next call.
// It is no part of a sweep, since to overwrite a large file takes longer than an expired
// push may stay.
func (s *Store) RemoveCopies(ctx context.Context) (n int, wait time.Duration, err error) {
	n, err = s.engine.RemoveCopies(ctx, s.time.Read().Ends.Add(-record.CopiesStay))
	return n, tidyRest, err
}

// endOfTime is a time after that of any file.
func endOfTime() time.Time { return time.Unix(1<<50, 0) }
