package store

import (
	"context"
	"slices"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

const (
	followPeriod = time.Second // between two looks at what other servers changed
	countShare   = 10          // counting the outbox takes at most one part in so many of the time
)

// Follow takes over what other servers have changed of what this one has in memory: the
// webhooks, with whether their accounts may act, which mails accounts want, and how many messages wait. The engine
// follows the key ring. It returns how long to wait before the next call: a second, or more
// where many messages wait. A store that no other server shares has nothing to follow.
func (s *Store) Follow(ctx context.Context) (wait time.Duration, err error) {
	if !s.options().Shared {
		return SweepPeriod, nil
	}
	if err := s.followHooks(ctx); err != nil {
		return followPeriod, err
	}
	begun := time.Now()
	waiting, err := s.recount(ctx)
	if err != nil {
		return followPeriod, err
	}
	s.outbox.waiting.Store(waiting)
	return max(followPeriod, countShare*time.Since(begun)), nil
}

// followHooks loads the webhooks if anything that they depend on has changed since the last
// call: each change of a webhook or an account comes with an event. So do sign-ins, which are
// many, and change neither.
func (s *Store) followHooks(ctx context.Context) error {
	seen := s.followed.Load()
	last, err := cold.LastAdminEvent(ctx, s.engine)
	if err != nil || last == seen {
		return err
	}
	missed, err := cold.AdminEvents(ctx, s.engine, seen, int(min(last-seen, listBatch)))
	if err == nil && uint64(len(missed)) == last-seen && !slices.ContainsFunc(missed, record.AdminEvent.ChangesHooks) { // an event that cannot be read may be any
		s.followed.Store(last)
		return nil
	}
	s.watchers.forgetAll()
	s.hooking.Lock()
	defer s.hooking.Unlock()
	if err := s.loadHooks(ctx); err != nil {
		return err
	}
	s.followed.Store(last)
	return nil
}
