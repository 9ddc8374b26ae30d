package store

import (
	"context"
	"errors"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Stats are the figures of a store at one moment.
type Stats struct {
	record.EngineStats
	Lag time.Duration // how long the push that is due longest has waited for a sweep; 0: none is due
}

// Stats returns the figures of the store. It waits for nothing but a database that several
// servers share: while that does not answer, the error is ErrUnavailable, and only Shared is
// set. ErrFailed or ErrClosed if the store works no more.
func (s *Store) Stats() (Stats, error) {
	stats, err := s.engine.Stats(context.Background())
	if err != nil {
		return Stats{EngineStats: record.EngineStats{Shared: stats.Shared}}, err
	}
	v := Stats{EngineStats: stats}
	if !v.Oldest.IsZero() {
		v.Lag = max(0, s.time.Read().Ends.Sub(v.Oldest))
	}
	return v, nil
}

// CountLive counts the live pushes beside everything else. From when it returns nil,
// Stats has their number. A second call does nothing.
func (s *Store) CountLive(ctx context.Context) error { return s.engine.CountLive(ctx) }

// Ping has the engine go the way of a write and of a read, and returns nil when both
// work.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.engine.KeepTime(ctx, time.Time{}) // earlier than any time kept, so nothing is written
	if err == nil {
		_, err = cold.LastAccount(ctx, s.engine)
	}
	return err
}

// Reach returns nil if the engine answers, and would complete a write as far as it knows.
// ErrUnavailable, or the error of ctx, while a database of several servers does not; ErrLost
// where a file of its own was deleted.
func (s *Store) Reach(ctx context.Context) error { return s.engine.Ready(ctx) }

// Health is the state of a store, for its operator.
type Health struct {
	Clock  time.Time // what the clock says
	Latest time.Time // the latest time that the database has seen
	Doubt  bool      // the clock jumped while the store was open, and is not believed yet: creates wait
	Away   bool      // by the clock the store was closed for more than a day, which is not believed yet: nothing is destroyed
	Swept  time.Time // when the last sweep ended without an error; zero: none since Open
	Space  record.Space
}

// Health returns the times that the store goes by, and its size.
func (s *Store) Health(ctx context.Context) (h Health, err error) {
	latest, timeErr := s.engine.KeepTime(ctx, time.Time{})
	stats, spaceErr := s.engine.Stats(ctx)
	if err := errors.Join(timeErr, spaceErr); err != nil {
		return h, err
	}
	at := s.time.Read()
	h = Health{Clock: s.options().Clock.Now().UTC(), Latest: latest, Space: stats.Space, Doubt: at.Jumped, Away: !at.Jumped && !at.Denies.Equal(at.Ends)}
	if ms := s.swept.Load(); ms != 0 {
		h.Swept = time.UnixMilli(ms).UTC()
	}
	return h, nil
}
