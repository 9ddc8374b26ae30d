package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/store/seal"
)

const (
	sweepBatch    = 256              // pushes read at a time from the expiry index
	sweepParallel = 8                // changes that share commits
	anonymousStay = day              // how long an expired push of nobody stays
	longestSleep  = time.Minute      // between two sweeps
	keySlack      = 2 * day          // after the end of a key's period: creates that began in it are done, and grants have ended
	timeSlack     = 10 * time.Minute // how old the time kept may be
	retrySleep    = 10 * time.Second // after a sweep that failed
)

// Sweep makes expiry real: it ends every push whose time is over, purges what
// has stayed long enough, gives back the space of files that are of no push any
// more, finishes removals of accounts that were cut short, removes sessions that
// have ended, renews the key encryption key once a month, and keeps the time. It
// returns how long to wait before the next sweep; doing it sooner does no harm.
func (s *Store) Sweep(ctx context.Context) (wait time.Duration, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	at := s.time.read()
	wait = longestSleep
	for _, sh := range s.shelves(at) {
		next, clearErr := s.clear(ctx, sh)
		err = errors.Join(err, clearErr)
		switch {
		case next.After(sh.until):
			wait = min(wait, next.Sub(sh.until))
		case !next.IsZero(): // there is more, and it does not move
			wait = min(wait, retrySleep)
		}
	}
	err = errors.Join(err, s.finishRemovals(ctx), s.freeOrphans(ctx), s.clearSessions(ctx, at), s.renewKeys(ctx, at))
	if at.ends.Sub(s.kept) >= timeSlack { // an idle store need not wake its disk each minute
		err = errors.Join(err, s.keepTime(ctx))
	}
	if err != nil {
		return retrySleep, err
	}
	s.swept.Store(s.time.clock.Now().UnixMilli())
	return max(wait, time.Millisecond), nil
}

// An outing is what a sweep does with one shelf.
type outing struct {
	shelf Shelf
	until time.Time
	rule  Rule
}

// moved reports whether a push is off the shelf now.
func (o outing) moved(p Push) bool {
	s, _ := p.Shelf()
	return p.State == Purged || s != o.shelf
}

func (s *Store) shelves(at instant) []outing {
	all := []outing{
		{Expiring, at.ends, expireRule(at)},
		{Granted, at.ends, releaseRule(at)},
		{ExpiredAnon, at.ends.Add(-anonymousStay), purgeRule(ExpiredAnon)},
	}
	if s.options().PurgeAfter > 0 {
		all = append(all, outing{ExpiredOwned, at.ends.Add(-s.options().PurgeAfter), purgeRule(ExpiredOwned)})
	}
	return all
}

// clear applies an outing's rule until nothing on its shelf is due, or nothing
// that is due moves any more. A push that gives an error stays behind and does
// not hold up the others; the error is the first of those.
func (s *Store) clear(ctx context.Context, o outing) (next time.Time, err error) {
	for {
		ids, next, dueErr := s.engine.Due(ctx, o.shelf, o.until, sweepBatch)
		if dueErr != nil {
			return next, dueErr
		}
		moved, changeErr := s.changeAll(ctx, ids, o.rule, o.moved)
		if err == nil {
			err = changeErr
		}
		if moved == 0 || next.IsZero() || next.After(o.until) {
			return next, err
		}
	}
}

// changeAll applies r to each push that is still there, many in one commit. It
// returns how many are then as they should be, and the first error.
func (s *Store) changeAll(ctx context.Context, ids []ID, r Rule, should func(Push) bool) (n int, err error) {
	var g errgroup.Group
	var count atomic.Int64
	g.SetLimit(sweepParallel)
	for _, id := range ids {
		g.Go(func() error {
			c, err := s.change(ctx, id, r)
			switch {
			case errors.Is(err, ErrNotFound):
				return nil
			case err == nil && should(c.Push):
				count.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	return int(count.Load()), err
}

// renewKeys adds a key encryption key when the newest is a month old, and then
// drops those that nothing is sealed under any more.
func (s *Store) renewKeys(ctx context.Context, at instant) error {
	if at.now != at.ends { // a clock in doubt is no reason for anything
		return nil
	}
	ring, renewed := s.ring.Load().Rotate(at.now)
	if !renewed {
		return nil
	}
	used, err := s.keysInUse(ctx)
	if err != nil {
		return err
	}
	for _, v := range ring.Versions() {
		if !used[v.Version] && !v.To.IsZero() && v.To.Before(at.now.Add(-keySlack)) {
			ring = ring.Drop(v.Version)
		}
	}
	return s.setRing(ctx, ring)
}

// keysInUse finds the versions of all keys that something is sealed under. When
// a push was created does not tell: the clock may have been wrong then.
func (s *Store) keysInUse(ctx context.Context) (map[uint32]bool, error) {
	used := make(map[uint32]bool)
	for last := (ID{}); ; {
		ps, err := s.engine.Scan(ctx, last, listBatch)
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			for _, sealed := range [...][]byte{p.Wrap, p.Details} {
				if v, ok := seal.KEKVersion(sealed); ok {
					used[v] = true
				}
			}
			last = p.ID
		}
		if len(ps) < listBatch {
			return used, s.messageKeys(ctx, used)
		}
	}
}
