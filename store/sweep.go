package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// SweepPeriod is the longest wait between two sweeps. The daemon's longest wait, doctor's allowed lag
// and deploy/prometheus-alerts.yml are multiples of it.
const SweepPeriod = time.Minute

const (
	sweepBatch    = 256              // pushes read at a time from the expiry index
	sweepParallel = 256              // changes that share commits
	anonymousStay = record.Day       // how long an expired anonymous push stays
	keySlack      = 2 * record.Day   // after a key's month: creates that began in it are done, and its grants have ended
	dropRest      = record.Day       // between two times that all pushes are read to drop keys
	timeSlack     = 10 * time.Minute // how far the kept time may lag
	retrySleep    = 10 * time.Second // after a sweep that failed
)

// Sweep does all due work. It ends pushes whose time is over, and purges those that expired long
// enough ago. It reminds owners of pushes that end soon. It frees orphans, finishes removals of accounts, and removes ended sessions, old
// requests, counts of mail and, once an hour, creates that can no longer be repeated. It adds a key encryption key once a month, and drops keys that are
// no longer needed. It counts refusals without an event, and stores the time. Sweep returns how
// long to wait before the next sweep; an earlier one does no harm.
func (s *Store) Sweep(ctx context.Context) (wait time.Duration, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	at := s.time.Read()
	wait = SweepPeriod
	for _, task := range s.sweepTasks(at) {
		next, clearErr := s.clear(ctx, task)
		err = errors.Join(err, clearErr)
		switch {
		case next.After(task.until):
			wait = min(wait, next.Sub(task.until))
		case !next.IsZero(): // the remaining pushes cannot be changed now
			wait = min(wait, retrySleep)
		}
	}
	err = errors.Join(err, s.finishRemovals(ctx, at), s.remind(ctx, at), s.freeOrphans(ctx), s.clearSessions(ctx, at), s.clearRequests(ctx, at), s.clearQuotas(ctx, at), s.clearRepeats(ctx, at), s.renewKeys(ctx, at), s.countRefusals(ctx, false))
	if at.Ends.Sub(s.kept) >= timeSlack { // an idle store need not wake the disk each minute
		err = errors.Join(err, s.keepTime(ctx))
	}
	if err != nil {
		return retrySleep, err
	}
	s.swept.Store(s.options().Clock.Now().UnixMilli())
	return max(wait, time.Millisecond), nil
}

// A sweepTask is what a sweep does with one expiry queue.
type sweepTask struct {
	queue record.ExpiryQueue
	until time.Time
	rule  record.Rule
}

// moved reports whether a push has left the queue.
func (t sweepTask) moved(p record.Push) bool {
	s, _ := p.ExpiryQueue()
	return p.State == record.Purged || s != t.queue
}

func (s *Store) sweepTasks(at clock.Instant) []sweepTask {
	all := []sweepTask{
		{record.Expiring, at.Ends, expireRule(at)},
		{record.Granted, at.Ends, releaseRule(at)},
		{record.ExpiredAnon, at.Ends.Add(-anonymousStay), purgeRule(record.ExpiredAnon)},
	}
	if s.options().PurgeAfter > 0 {
		all = append(all, sweepTask{record.ExpiredOwned, at.Ends.Add(-s.options().PurgeAfter), purgeRule(record.ExpiredOwned)})
	}
	return all
}

// clear applies a task's rule batch by batch. It stops when no push in its queue is due, or when a
// batch moved no push. A push whose change fails stays in the queue and does not delay the others;
// clear returns the first such error.
func (s *Store) clear(ctx context.Context, t sweepTask) (next time.Time, err error) {
	for {
		ids, next, dueErr := s.engine.Due(ctx, t.queue, record.ExpiryPlace{}, t.until, sweepBatch)
		if dueErr != nil {
			return next, dueErr
		}
		moved, changeErr := s.changeAll(ctx, ids, t.rule, t.moved)
		if err == nil {
			err = changeErr
		}
		if moved == 0 || next.IsZero() || next.After(t.until) {
			return next, err
		}
	}
}

// clearRepeats removes creates that can no longer be repeated. It reads all of them, so it does that
// only once an hour.
func (s *Store) clearRepeats(ctx context.Context, at clock.Instant) error {
	if at.Ends.Sub(s.repeats) < time.Hour {
		return nil
	}
	var last record.RepeatID
	for more := true; more; {
		var err error
		if last, more, err = cold.ClearRepeats(ctx, s.engine, last, clearBatch, at.Ends); err != nil {
			return err
		}
	}
	s.repeats = at.Ends
	return nil
}

// changeAll applies r to each push that still exists, many in one commit. It returns how many
// pushes are done then, and the first error.
func (s *Store) changeAll(ctx context.Context, ids []record.ID, r record.Rule, done func(record.Push) bool) (n int, err error) {
	var g errgroup.Group
	var count atomic.Int64
	g.SetLimit(sweepParallel)
	for _, id := range ids {
		g.Go(func() error {
			c, err := s.change(ctx, id, r)
			switch {
			case errors.Is(err, record.ErrNotFound):
				return nil
			case err == nil && done(c.Push):
				count.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	return int(count.Load()), err
}
