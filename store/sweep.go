package store

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	sweepBatch    = 256              // pushes read at a time from the expiry index
	sweepParallel = 64               // changes that share commits
	anonymousStay = day              // how long an expired push of nobody stays
	longestSleep  = time.Minute      // between two sweeps
	keySlack      = time.Hour        // a create may hold a key ring for so long and still commit
	timeSlack     = 10 * time.Minute // how old the time kept may be
	retrySleep    = 10 * time.Second // after a sweep that failed
)

// Sweep makes expiry real: it ends every push whose time is over, purges what
// has stayed long enough, finishes removals of accounts that were cut short,
// renews the key encryption key once a month, and keeps the time. It returns how
// long to wait before the next sweep; doing it sooner does no harm.
func (s *Store) Sweep(ctx context.Context) (wait time.Duration, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	at := s.time.read()
	wait = longestSleep
	for _, sh := range s.shelves(at) {
		next, err := s.clear(ctx, sh)
		if err != nil {
			return retrySleep, err
		}
		if !next.IsZero() {
			wait = min(wait, next.Sub(sh.until))
		}
	}
	err = errors.Join(s.finishRemovals(ctx), s.renewKeys(ctx, at))
	if at.ends.Sub(s.kept) >= timeSlack { // an idle store need not wake its disk each minute
		err = errors.Join(err, s.keepTime(ctx))
	}
	if err != nil {
		return retrySleep, err
	}
	return max(wait, time.Millisecond), nil
}

// An outing is what a sweep does with one shelf.
type outing struct {
	shelf Shelf
	until time.Time
	rule  Rule
}

func (s *Store) shelves(at instant) []outing {
	all := []outing{
		{Expiring, at.ends, expireRule(at)},
		{ExpiredAnon, at.ends.Add(-anonymousStay), purgeRule(ExpiredAnon)},
	}
	if s.opts.PurgeAfter > 0 {
		all = append(all, outing{ExpiredOwned, at.ends.Add(-s.opts.PurgeAfter), purgeRule(ExpiredOwned)})
	}
	return all
}

// clear applies an outing's rule until nothing on its shelf is due.
func (s *Store) clear(ctx context.Context, o outing) (next time.Time, err error) {
	for {
		next, err = s.sweepShelf(ctx, o.shelf, o.until, o.rule)
		if err != nil || next.IsZero() || next.After(o.until) {
			return next, err
		}
	}
}

// sweepShelf applies r to one batch of what is due on a shelf, and tells the
// time of what comes after it; zero if nothing does.
func (s *Store) sweepShelf(ctx context.Context, shelf Shelf, until time.Time, r Rule) (next time.Time, err error) {
	ids, next, err := s.engine.Due(ctx, shelf, until, sweepBatch)
	if err != nil {
		return next, err
	}
	return next, s.changeAll(ctx, ids, r)
}

// changeAll applies r to each push that is still there, many in one commit.
func (s *Store) changeAll(ctx context.Context, ids []ID, r Rule) error {
	var g errgroup.Group
	g.SetLimit(sweepParallel)
	for _, id := range ids {
		g.Go(func() error {
			_, err := s.engine.Change(ctx, id, r)
			if errors.Is(err, ErrNotFound) {
				return nil
			}
			return err
		})
	}
	return g.Wait()
}

// renewKeys adds a key encryption key when the newest is a month old, and drops
// those that no push was sealed under any more.
func (s *Store) renewKeys(ctx context.Context, at instant) error {
	if at.now != at.ends { // a clock in doubt is no reason for anything
		return nil
	}
	ring, changed := s.ring.Load().Rotate(at.now)
	for _, v := range ring.Versions() {
		if v.To.IsZero() || v.To.After(at.now.Add(-keySlack)) {
			continue
		}
		from := ID{}
		if v.From != ring.Versions()[0].From {
			from = firstID(v.From)
		}
		used, err := s.engine.HasPushes(ctx, from, firstID(v.To))
		if err != nil {
			return err
		}
		if !used {
			ring, changed = ring.Drop(v.Version), true
		}
	}
	if !changed {
		return nil
	}
	return s.setRing(ctx, ring)
}
