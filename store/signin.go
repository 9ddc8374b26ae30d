package store

import (
	"context"
	"errors"
	"fmt"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// SignIn begins a session of the account of that address: a pending one where
// the account has a second factor. It takes as long for an address of no account.
//
// Errors: ErrCredentials; *LockedError after too many tries; ErrBusy where too
// many passwords wait; ErrClock while the clock is in doubt.
func (s *Store) SignIn(ctx context.Context, by Actor, email string, password secret.Text) (n NewSession, err error) {
	err = s.guess.attempt(ctx, accountKey(email), by.Client, func() error {
		a, err := s.account(ctx, email)
		if err == nil {
			err = checkCredentials(a, password)
		} else if errors.Is(err, ErrNotFound) {
			seal.HashPassword(password) // or the time would tell
			err = ErrCredentials
		}
		if err != nil {
			return err
		}
		n, err = s.startSession(ctx, by, a.ID, SessionDigest{}, signInRule(a))
		return instead(err, ErrNotFound, ErrCredentials)
	})
	return n, err
}

// signInRule begins a session of an account whose password was given, unless it
// has another by now.
func signInRule(known Account) startRule {
	return func(a Account) (Account, bool, error) {
		if !a.Active() || a.PasswordHash != known.PasswordHash {
			return a, false, ErrCredentials
		}
		return a, a.MFA(), nil
	}
}

// SignInCode ends a pending session and begins one that is not, for a code of
// the second factor or a recovery code. No code is accepted twice.
//
// Errors: ErrCredentials; *LockedError after too many tries; ErrSession if the
// pending session has ended; ErrBusy; ErrClock while the clock is in doubt.
func (s *Store) SignInCode(ctx context.Context, by Actor, pending secret.Text, code string) (n NewSession, err error) {
	c, err := s.caller(ctx, pending)
	switch {
	case err != nil:
		return NewSession{}, err
	case !c.session.Pending || !c.account.MFA():
		return NewSession{}, ErrSession
	case c.at.jumped:
		return NewSession{}, ErrClock
	}
	err = s.guess.attempt(ctx, c.account.Email, by.Client, func() error {
		p, err := s.readCode(c.account, code)
		if err != nil {
			return err
		}
		n, err = s.startSession(ctx, by, c.account.ID, c.session.Digest, p.rule)
		return err
	})
	return n, err
}

// ChangePassword replaces the password of the account that a session is of. All its
// sessions end, the one that asks too: whoever knows that one's secret beside its
// owner does not go on with it. One begins in their place.
//
// Errors: ErrSession; *InvalidError; ErrCredentials if old is not the password;
// *LockedError after too many tries; ErrBusy; ErrClock while the clock is in doubt.
func (s *Store) ChangePassword(ctx context.Context, by Actor, session, old, new secret.Text) (NewSession, error) {
	var bad InvalidError
	checkPassword(new, &bad)
	if err := bad.Err(); err != nil {
		return NewSession{}, err
	}
	return s.renewed(ctx, by, session, old, func(caller) accountChange {
		hash := seal.HashPassword(new)
		return func(a Account) (Account, error) {
			a.PasswordHash = hash
			return a, nil
		}
	})
}

// An accountChange is an AccountRule that says nothing of sessions.
type accountChange func(Account) (Account, error)

// renewed is confirmed for what nobody may have known who has the account's sessions
// by now: all of them end, that which asks included, and a new one takes its place.
func (s *Store) renewed(ctx context.Context, by Actor, session, password secret.Text, prepare func(caller) accountChange) (NewSession, error) {
	n, begins := s.newSession(by)
	err := s.confirmed(ctx, by, session, password, func(c caller) AccountRule {
		change := prepare(c)
		begins = s.options().Sessions.start(begins, c.at.now)
		return func(a Account) (Account, Turnover, error) {
			if c.at.jumped {
				return a, Turnover{}, ErrClock
			}
			a, err := change(a)
			if err != nil {
				return a, Turnover{}, err
			}
			n.SessionInfo = SessionInfo{Session: begins, IP: by.IP, UserAgent: cut(by.UserAgent), Email: a.Email, MFA: a.MFA()}
			return a, Turnover{Ends: EndOthers, Begins: &begins, Most: 1}, nil // no more than the new one
		}
	})
	if err != nil {
		return NewSession{}, err
	}
	return n, nil
}

// confirmed changes the account that a session is of, once its password was
// given again: then prepare runs, where Argon2 may.
func (s *Store) confirmed(ctx context.Context, by Actor, session, password secret.Text, prepare func(caller) AccountRule) error {
	c, err := s.signedIn(ctx, session)
	if err != nil {
		return err
	}
	return s.guess.attempt(ctx, c.account.Email, by.Client, func() error {
		if err := checkCredentials(c.account, password); err != nil {
			return err
		}
		rule := prepare(c)
		return s.changeBy(ctx, c, func(a Account) (Account, Turnover, error) {
			if a.PasswordHash != c.account.PasswordHash {
				return a, Turnover{}, ErrCredentials
			}
			return rule(a)
		})
	})
}

// changeBy applies a rule to the account of a caller whose session lasts.
func (s *Store) changeBy(ctx context.Context, c caller, r AccountRule) error {
	_, err := s.engine.ChangeAccount(ctx, c.account.ID, c.session.Digest, func(a Account) (Account, Turnover, error) {
		if !a.Active() {
			return a, Turnover{}, ErrSession
		}
		return r(a)
	})
	return err
}

// checkCredentials runs Argon2. ErrCredentials if the account may not act, or it
// is not its password.
func checkCredentials(a Account, password secret.Text) error {
	ok, err := seal.VerifyPassword(a.PasswordHash, password)
	switch {
	case err != nil:
		return fmt.Errorf("%w: account %d: %w", ErrCorrupt, a.ID, err)
	case !ok || !a.Active():
		return ErrCredentials
	}
	return nil
}
