package store

import (
	"context"
	"errors"

	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
)

// ExpirePushes ends all live pushes of an account, as a delete does, and returns how many. Their
// audit logs stay. If it is interrupted, some pushes have ended. ErrNotFound; ErrDenied for a
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

// RemoveAccount removes an account with its API tokens, sessions, webhooks, pushes and their audit
// logs; its links end at once. If it is interrupted, the account can do nothing, and a sweep
// finishes the removal. ErrNotFound; ErrLastAdmin; ErrDenied for a client.
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
		return instead(s.as(by).removeAccount(ctx, a), record.ErrNotFound, nil) // a sweep did it first
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

// noteRemoval makes the next sweep look for an interrupted removal, if err says that one began. It
// returns err.
func (s *Store) noteRemoval(err error) error {
	if err == nil {
		s.removing.Store(true)
	}
	return err
}

// finishRemovals finishes interrupted removals. It must read all accounts to find them, so it does
// that only after one began here, and otherwise now and then: another server or an earlier process
// may have been interrupted, too.
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
