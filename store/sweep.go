package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"pushbox/internal/humanize"
	"pushbox/internal/secret"

	"golang.org/x/sync/errgroup"

	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
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

// Sweep does what is due: it ends pushes whose time is over, purges expired ones that
// have stayed long enough, frees the space of orphans, finishes removals of accounts,
// removes ended sessions, requests that ended long ago and counts of mail of the days before, adds a key encryption key once a month, drops those that are
// no longer needed, counts refusals that became no event, and keeps the time.
// It returns how long to wait before the next sweep; an earlier one does no harm.
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
		case !next.IsZero(): // what is left does not move
			wait = min(wait, retrySleep)
		}
	}
	err = errors.Join(err, s.finishRemovals(ctx, at), s.freeOrphans(ctx), s.clearSessions(ctx, at), s.clearRequests(ctx, at), s.clearQuotas(ctx, at), s.renewKeys(ctx, at), s.countRefusals(ctx, false))
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

// clear applies a task's rule until nothing in its queue is due, or nothing of what is
// due moves. A push whose change fails stays and does not hold up the others; the error
// is the first of those.
func (s *Store) clear(ctx context.Context, t sweepTask) (next time.Time, err error) {
	for {
		ids, next, dueErr := s.engine.Due(ctx, t.queue, t.until, sweepBatch)
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

// changeAll applies r to each push that still exists, many in one commit. It returns
// how many are then as they should be, and the first error.
func (s *Store) changeAll(ctx context.Context, ids []record.ID, r record.Rule, should func(record.Push) bool) (n int, err error) {
	var g errgroup.Group
	var count atomic.Int64
	g.SetLimit(sweepParallel)
	for _, id := range ids {
		g.Go(func() error {
			c, err := s.change(ctx, id, r)
			switch {
			case errors.Is(err, record.ErrNotFound):
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

// renewKeys adds a key encryption key when the newest is a month old. At most once a
// day it drops those whose time is over and that nothing is sealed under: copies of
// what they sealed then open no more.
func (s *Store) renewKeys(ctx context.Context, at clock.Instant) error {
	if at.Now != at.Ends { // the clock is in doubt
		return nil
	}
	ring, renewed := s.ring.Load().Rotate(at.Now)
	over, err := s.keysToDrop(ctx, ring, at)
	if err != nil || len(over) == 0 && !renewed {
		return err
	}
	err = s.changeRing(ctx, record.AdminKeysRenew, func(ring *seal.Ring) (*seal.Ring, string) { // a rotation may have replaced it
		ring, _ = ring.Rotate(at.Now)
		for _, version := range over {
			ring = ring.Drop(seal.KEKs, version)
		}
		return ring, strconv.Itoa(len(over)) + " dropped"
	})
	return instead(err, record.ErrStaleKeys, nil) // another server was first; the next sweep looks again
}

// keysToDrop lists the versions of key encryption keys whose time is over and that
// nothing is sealed under. It lists none if it was asked within the last day.
func (s *Store) keysToDrop(ctx context.Context, ring *seal.Ring, at clock.Instant) (over []uint32, err error) {
	for _, v := range ring.Versions(seal.KEKs) {
		if !v.To.IsZero() && v.To.Before(at.Now.Add(-keySlack)) {
			over = append(over, v.Version)
		}
	}
	if len(over) == 0 || at.Ends.Sub(s.dropped) < dropRest {
		return nil, nil
	}
	used, err := s.keysInUse(ctx)
	if err != nil {
		return nil, err
	}
	s.dropped = at.Ends
	return slices.DeleteFunc(over, func(version uint32) bool { return used[version] }), nil
}

// keysInUse returns the versions of all key encryption keys that something is sealed
// under, grants aside. The creation time of a push does not tell, since the clock may
// have been wrong.
func (s *Store) keysInUse(ctx context.Context) (map[uint32]bool, error) {
	used := make(map[uint32]bool)
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			for _, sealed := range [...][]byte{p.Wrap, p.Link} {
				if v, ok := seal.SealedUnder(seal.KEKs, sealed); ok {
					used[v] = true
				}
			}
		}
	}
	return used, nil
}

// ExpirePushes ends all live pushes of an account, as a delete does, and returns how many.
// Their audit logs stay. If it is cut short, some have ended. ErrNotFound; ErrDenied for a
// client.
func (s *Store) ExpirePushes(ctx context.Context, by Actor, email string) (n int, err error) {
	if !by.administers() {
		return 0, record.ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return 0, err
	}
	n, err = s.expireAll(ctx, by, a.ID)
	return n, errors.Join(err, s.as(by).note(ctx, record.AdminPushesExpire, about(a).with(humanize.Count(n, "push", "pushes"))))
}

func (s *Store) expireAll(ctx context.Context, by Actor, owner record.AccountID) (n int, err error) {
	for {
		ps, err := s.engine.Pushes(ctx, owner, true, record.ID{}, 0, sweepBatch)
		if err != nil || len(ps) == 0 {
			return n, err
		}
		if err := s.deleteEach(ctx, by, ps); err != nil {
			return n, err
		}
		n += len(ps)
	}
}

func (s *Store) deleteEach(ctx context.Context, by Actor, ps []record.Push) error {
	return s.keeping(ctx, func(ctx context.Context) error {
		at := s.time.Read()
		return s.changeEach(ctx, ps, func(id record.ID) record.Rule { return deleteRule(by, at, s.sealActor(id, by)) })
	})
}

// RemoveAccount removes an account with its API tokens, sessions, webhooks, pushes and
// their audit logs; its links end at once. If it is cut short, the account can do
// nothing, and a sweep finishes the removal. ErrNotFound; ErrLastAdmin; ErrDenied for a
// client.
func (s *Store) RemoveAccount(ctx context.Context, by Actor, email string) error {
	var a record.Account
	err := s.changeHooks(ctx, func(*subscriptions) (err error) {
		a, err = s.changeAccount(ctx, by, email, record.AdminAccountRemove, record.SessionChange{Revoke: record.RevokeOthers}, func(a *record.Account) { a.Removing = true })
		return s.noteRemoval(err)
	})
	if err != nil {
		return err
	}
	return s.finishRemoval(ctx, by, a)
}

// RemoveOwnAccount is RemoveAccount for the account of a session. The password proves that
// the account is the caller's, and so does a second factor if the account has one.
//
// Errors: ErrSession; ErrStale; ErrCredentials, also for a wrong factor; *LockedError after too
// many tries; ErrLastAdmin; ErrBusy.
func (s *Store) RemoveOwnAccount(ctx context.Context, by Actor, session, password secret.Text, f Factor) error {
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return err
	}
	err = s.changeHooks(ctx, func(*subscriptions) error {
		_, err := s.changeOwn(ctx, c, record.AdminAccountRemove, "by its user", func(a *record.Account) (record.SessionChange, error) {
			err := use(a)
			a.Removing = true
			return record.SessionChange{Revoke: record.RevokeOthers}, err
		})
		return s.noteRemoval(err)
	})
	if err != nil {
		return err
	}
	return s.finishRemoval(ctx, Actor{Role: System}, c.account)
}

// finishRemoval purges the pushes of an account, then removes it. A sweep may do the
// same at the same time.
func (s *Store) finishRemoval(ctx context.Context, by Actor, a record.Account) error {
	for _, live := range []bool{true, false} {
		for {
			ps, err := s.engine.Pushes(ctx, a.ID, live, record.ID{}, 0, sweepBatch)
			if err != nil {
				return err
			}
			if len(ps) == 0 {
				break
			}
			if err := s.purge(ctx, ps); err != nil {
				return err
			}
		}
	}
	return s.changeHooks(ctx, func(*subscriptions) error {
		return instead(s.as(by).removeAccount(ctx, a), record.ErrNotFound, nil) // a sweep was faster
	})
}

func (s *Store) purge(ctx context.Context, ps []record.Push) error {
	ids := make([]record.ID, len(ps))
	for i, p := range ps {
		ids[i] = p.ID
	}
	_, err := s.changeAll(ctx, ids, purgeAlways, func(record.Push) bool { return true })
	return err
}

// noteRemoval has the next sweep look for a removal that was cut short, if err says that one
// began. It returns err.
func (s *Store) noteRemoval(err error) error {
	if err == nil {
		s.removing.Store(true)
	}
	return err
}

// finishRemovals finishes the removals that were cut short. It reads all accounts to find
// them, so it does that only after one began here, and else now and then: a removal of
// another server or of an earlier process may have been cut short.
func (s *Store) finishRemovals(ctx context.Context, at clock.Instant) error {
	if !s.removing.Swap(false) && at.Ends.Sub(s.lookedForRemovals) < clearRest {
		return nil
	}
	accounts, err := s.Accounts(ctx)
	for _, a := range accounts {
		if a.Removing {
			err = errors.Join(err, s.finishRemoval(ctx, Actor{Role: System}, a))
		}
	}
	if err != nil {
		s.removing.Store(true)
		return err
	}
	s.lookedForRemovals = at.Ends
	return nil
}
