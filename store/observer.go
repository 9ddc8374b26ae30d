package store

import (
	"context"
	"errors"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// An Observer learns of each event of a push once the event is durable, but not which
// push it is. Many goroutines call it at the same time, so it must be quick.
type Observer interface {
	// Created reports a new push.
	Created(k record.Kind)
	// Viewed reports a view that was counted.
	Viewed()
	// Ended reports a push that is no longer live.
	Ended(c Cause)
	// PassphraseFailed reports a wrong passphrase.
	PassphraseFailed()
	// Compacted reports how a compaction ended; ErrBusy if it was postponed.
	Compacted(err error)
}

// Observed returns an engine that reports the changes of e to o.
func Observed(e record.Engine, o Observer) record.Engine { return observed{e, o} }

type observed struct {
	record.Engine
	observer Observer
}

// CreatePush calls CreatePush of the engine.
func (e observed) CreatePush(ctx context.Context, p record.Push, payload []byte, first record.Entry) (record.Entry, error) {
	kept, err := e.Engine.CreatePush(ctx, p, payload, first)
	if err == nil {
		e.observer.Created(p.Kind)
	}
	return kept, err
}

// Change calls Change of the engine.
func (e observed) Change(ctx context.Context, id record.ID, r record.Rule) (record.Change, error) {
	var was record.Push
	c, err := e.Engine.Change(ctx, id, func(p record.Push) (record.Push, record.Entry, error) {
		was = p // the last run counts
		return r(p)
	})
	if err == nil {
		e.tell(was, c)
	}
	return c, err
}

func (e observed) tell(was record.Push, c record.Change) {
	switch c.Entry.Kind {
	case record.EntryView:
		e.observer.Viewed()
	case record.EntryFailedPassphrase, record.EntryFreeze:
		e.observer.PassphraseFailed()
	}
	if was.Live() && !c.Push.Live() {
		e.observer.Ended(causeOf(was, c.Push))
	}
}

// Compact calls Compact of the engine.
func (e observed) Compact(ctx context.Context, progress func(done, total int64)) error {
	err := e.Engine.Compact(ctx, progress)
	e.observer.Compacted(err)
	return err
}

// Stats are the figures of a store at one moment.
type Stats struct {
	record.EngineStats
	Lag time.Duration // how long the oldest due push has waited for a sweep; 0: none is due
}

// Stats returns the figures of the store. It waits only for a database that several servers share:
// while that does not answer, the error is ErrUnavailable, and only Shared is set. ErrFailed or
// ErrClosed if the store no longer works.
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

// Ping tests a write and a read in the engine, and returns nil if both work.
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
	Doubt  bool      // the clock jumped while the store was open, and is not trusted yet: creates wait
	Away   bool      // by the clock the store was closed for more than a day, which is not trusted yet: nothing is destroyed
	Swept  time.Time // when the last sweep ended without an error; zero: none since Open
	Space  record.Space
}

// Health returns the times that the store uses, and its size.
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
