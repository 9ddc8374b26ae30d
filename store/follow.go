package store

import (
	"context"
	"time"
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

// followHooks loads the webhooks if anything of the instance has changed since the last
// call: each change of a webhook or an account comes with an event.
func (s *Store) followHooks(ctx context.Context) error {
	last, err := s.engine.LastAdminEvent(ctx)
	if err != nil || last == s.followed.Load() {
		return err
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
