package store

import (
	"context"
	"time"
)

// Stats is what an engine knows of itself at one moment, without waiting for
// writers or for its disk.
type Stats struct {
	Space
	FreePages int       // that nothing is in
	Journal   int       // changes that are durable and not yet in their places
	Oldest    time.Time // the earliest time limit of a live push; zero: none is live
	Live      int64     // live pushes, those included whose time is over and that no sweep has met; -1: not counted yet
}

// Vitals tell how a store is.
type Vitals struct {
	Stats
	Lag time.Duration // how long the push that has been due for the longest time has waited for a sweep; 0: none is due
}

// Vitals returns how the store is, in no time, whatever else it does. ErrFailed
// or ErrClosed where it does nothing any more.
func (s *Store) Vitals() (Vitals, error) {
	stats, err := s.engine.Stats()
	if err != nil {
		return Vitals{}, err
	}
	v := Vitals{Stats: stats}
	if !v.Oldest.IsZero() {
		v.Lag = max(0, s.time.read().ends.Sub(v.Oldest))
	}
	return v, nil
}

// CountLive counts the live pushes, beside everything else. When it returns nil,
// Vitals knows their number, and goes on knowing it. Doing it again does nothing.
func (s *Store) CountLive(ctx context.Context) error { return s.engine.CountLive(ctx) }

// Ping has the store do next to nothing, in the same way as it writes and reads,
// and returns nil when that was done.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.engine.SetLatestTime(ctx, time.Time{}); err != nil { // before any time kept: so nothing is written
		return err
	}
	_, err := s.engine.LatestTime(ctx)
	return err
}
