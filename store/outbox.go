package store

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"pushbox/store/seal"
)

// HookOptions say what is told, and how much may wait to be.
type HookOptions struct {
	Instance EventSet      // what a webhook of the whole instance asks for, which the configuration has
	Queue    int           // messages that may wait at the same time; a new one beyond it is dropped
	GiveUp   time.Duration // after which a message that could not be delivered is dropped
}

// An outbox counts the messages that wait. Where each of them is, the engine knows.
type outbox struct {
	most    int64
	waiting atomic.Int64 // those about to be put included
	dropped atomic.Uint64
	fresh   chan struct{} // has a value when there are messages that nobody has looked at
	shares  shares
}

func newOutbox(most int) *outbox {
	return &outbox{most: int64(most), fresh: make(chan struct{}, 1), shares: shares{held: make(map[HookID]int64)}}
}

// release gives room back.
func (o *outbox) release(n int) { o.waiting.Add(-int64(n)) }

// wake has somebody look at the outbox.
func (o *outbox) wake() {
	select {
	case o.fresh <- struct{}{}:
	default:
	}
}

// Told has a value when there are new messages in the outbox.
func (s *Store) Told() <-chan struct{} { return s.outbox.fresh }

// Waiting is how many messages wait in the outbox.
func (s *Store) Waiting() int { return int(s.outbox.waiting.Load()) }

// Dropped is how many messages found no room in the outbox since the store was
// opened.
func (s *Store) Dropped() uint64 { return s.outbox.dropped.Load() }

// DueMessages lists messages to be tried now, earliest first, but for those that
// skip skips, and tells how long it is until the next one that is not due yet. skip is
// quick, and may run several times for the same message.
func (s *Store) DueMessages(ctx context.Context, skip func(Message) bool, limit int) (due []Message, wait time.Duration, err error) {
	now := s.time.read().now
	due, next, err := s.engine.DueMessages(ctx, now, skip, limit)
	wait = longestSleep
	if !next.IsZero() {
		wait = min(wait, max(0, next.Sub(now)))
	}
	return due, wait, err
}

// EndMessages forgets messages that were delivered, or that nobody wants any more.
func (s *Store) EndMessages(ctx context.Context, gone []Message) error {
	n, err := s.endMessages(ctx, gone)
	s.outbox.release(n)
	return err
}

func (s *Store) endMessages(ctx context.Context, gone []Message) (int, error) {
	if len(gone) == 0 {
		return 0, nil
	}
	n, err := s.engine.EndMessages(ctx, gone)
	if err != nil {
		return n, err
	}
	return n, s.settleShares(ctx, gone, n)
}

// RetryMessage has a message tried again after some time. It reports false where that
// would be too late: then it is given up.
func (s *Store) RetryMessage(ctx context.Context, m Message, wait time.Duration) (again bool, err error) {
	at := s.time.read()
	next := at.now.Add(wait)
	if at.ends.Add(wait).Sub(m.CreatedAt) >= s.patience(m.Route) {
		return false, s.EndMessages(ctx, []Message{m})
	}
	return true, instead(s.engine.RetryMessage(ctx, m, next), ErrNotFound, nil)
}

// patience is how long a message is tried.
func (s *Store) patience(by Route) time.Duration {
	if by == ByMail {
		return s.options().Mail.GiveUp
	}
	return s.options().Hooks.GiveUp
}

// GiveUp forgets messages to webhooks that have waited too long to be tried even once, and tells
// how many there were. A clock in doubt gives up none.
func (s *Store) GiveUp(ctx context.Context) (given int, err error) {
	others := func(m Message) bool { return m.Route != ByWebhook }
	for {
		old, _, err := s.engine.DueMessages(ctx, s.time.read().ends.Add(-s.options().Hooks.GiveUp), others, sweepBatch)
		if err != nil || len(old) == 0 {
			return given, err
		}
		n, err := s.endMessages(ctx, old)
		s.outbox.release(n)
		given += n
		if err != nil || n == 0 {
			return given, err
		}
	}
}

// messageKeys adds the versions of the keys that webhooks and messages are sealed
// under.
func (s *Store) messageKeys(ctx context.Context, used map[uint32]bool) error {
	note := func(sealed []byte) {
		if v, ok := seal.KEKVersion(sealed); ok {
			used[v] = true
		}
	}
	for _, h := range s.hooks.Load().all {
		note(h.Sealed)
	}
	_, _, err := s.engine.DueMessages(ctx, time.UnixMilli(math.MaxInt64), func(m Message) bool {
		note(m.Sealed)
		return true
	}, 1)
	return err
}
