package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// SignIn begins a session of the account of that address, a pending one if the account has a second
// factor. For an address without an account it takes the same time.
//
// Errors: ErrCredentials; *LockedError after too many tries; ErrBusy if too many
// passwords wait; ErrClock while the clock is in doubt.
func (s *Store) SignIn(ctx context.Context, by Actor, email string, password secret.Text) (n NewSession, err error) {
	a, err := s.account(ctx, email)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return NewSession{}, err
	}
	exists := err == nil
	err = s.attempt(ctx, s.trier(by, a, accountKey(email)), func() (record.AccountID, error) {
		if !exists {
			s.options().Argon2.HashPassword(password) // so that timing does not reveal whether the account exists
			return 0, record.ErrCredentials
		}
		if err := s.checkCredentials(a, password); err != nil {
			return 0, err
		}
		hash := ""
		if seal.IsBcrypt(a.PasswordHash) {
			hash = s.options().Argon2.HashPassword(password)
		}
		n, err = s.startSession(ctx, by.proved(a.ID), a, record.SessionDigest{}, "", nil, signInRule(a, hash))
		return a.ID, instead(err, record.ErrNotFound, record.ErrCredentials)
	})
	return n, s.refused(ctx, by, record.AdminSignInRefused, a, err)
}

// trier returns the trier that signs in to an account, or to an address without one.
func (s *Store) trier(by Actor, a record.Account, email string) trier {
	if m := s.markOf(by, accountSubject(a)); !m.IsZero() {
		return asKnown("browser "+string(nonceOf(m)), by.Client)
	}
	return asStranger(email, by.Client)
}

// signInRule begins a session of an account whose password was checked, unless the
// password has changed since. A hash, unless empty, replaces that of an imported
// account.
func signInRule(known record.Account, hash string) startRule {
	return func(a record.Account) (record.Account, bool, error) {
		if !a.Active() || a.PasswordHash != known.PasswordHash {
			return a, false, record.ErrCredentials
		}
		a.PasswordHash = cmp.Or(hash, a.PasswordHash)
		return a, a.MFA(), nil
	}
}

// SignInCode replaces a pending session with one that is not, for a code of the second
// factor or a recovery code. No code is accepted twice.
//
// Errors: ErrCredentials; *LockedError after too many tries; ErrSession if the pending
// session has ended; ErrBusy; ErrClock while the clock is in doubt.
func (s *Store) SignInCode(ctx context.Context, by Actor, pending, code secret.Text) (NewSession, error) {
	return s.signInSecond(ctx, by, pending, Factor{Code: code})
}

func (s *Store) signInSecond(ctx context.Context, by Actor, pending secret.Text, f Factor) (n NewSession, err error) {
	c, err := s.caller(ctx, by, pending)
	switch {
	case err != nil:
		return NewSession{}, err
	case !c.session.Pending || !c.account.MFA():
		return NewSession{}, record.ErrSession
	case c.at.Jumped:
		return NewSession{}, record.ErrClock
	}
	err = s.attempt(ctx, s.trier(by, c.account, c.account.Email), func() (record.AccountID, error) {
		how, r, err := s.readFactor(c, f)
		if err != nil {
			return 0, err
		}
		n, err = s.startSession(ctx, c.by, c.account, c.session.Digest, how, c.session.SameVia, r)
		return c.account.ID, err
	})
	return n, s.refused(ctx, by, record.AdminSignInRefused, c.account, err) // without the code, the client is not authenticated
}

// ChangePassword replaces the password of the account of a session. All its sessions end, also the
// caller's, since its secret may be stolen; with endTokens, its API tokens too. A new session
// begins.
//
// Errors: ErrSession; *InvalidError; ErrCredentials if old is not the password;
// *LockedError after too many tries; ErrBusy; ErrDenied for an account that signs in elsewhere;
// ErrClock while the clock is in doubt.
func (s *Store) ChangePassword(ctx context.Context, by Actor, session, old, new secret.Text, endTokens bool) (NewSession, error) {
	var bad record.InvalidError
	checkPassword(new, &bad)
	if err := bad.Err(); err != nil {
		return NewSession{}, err
	}
	c, err := s.proven(ctx, by, session, old)
	switch {
	case err != nil:
		return NewSession{}, err
	case c.account.SignsInElsewhere():
		return NewSession{}, record.ErrDenied
	}
	if err := s.countChange(ctx, c.account.ID); err != nil {
		return NewSession{}, err
	}
	var hashed record.Account
	if err := s.hashPassword(ctx, by, &hashed, new); err != nil {
		return NewSession{}, err
	}
	return s.renew(ctx, c, record.AdminPassword, "", endTokens, func(a *record.Account) error {
		a.PasswordHash = hashed.PasswordHash
		return nil
	})
}

// freshFor is how long a sign-in at a provider replaces a password that the user must give again.
const freshFor = 10 * time.Minute

// checkAgain checks a password that the caller gives again. Without a password the caller must have
// signed in just now.
func (s *Store) checkAgain(c caller, password secret.Text) error {
	switch {
	case !c.account.SignsInElsewhere():
		return s.checkCredentials(c.account, password)
	case c.at.Now.Sub(c.session.CreatedAt) > freshFor:
		return record.ErrStale
	default:
		return nil
	}
}

// proven is signedIn for a caller who gives the password again.
func (s *Store) proven(ctx context.Context, by Actor, session, password secret.Text) (caller, error) {
	c, err := s.signedIn(ctx, by, session)
	if err != nil {
		return caller{}, err
	}
	err = s.attempt(ctx, c.trier(), func() (record.AccountID, error) { return 0, s.checkAgain(c, password) })
	return c, s.refused(ctx, c.by, record.AdminSignInRefused, c.account, err)
}

// trier returns the trier that gives the password of a session's account again. Strangers cannot
// use up its tries.
func (c caller) trier() trier { return asKnown("session "+string(c.session.Digest[:]), c.by.Client) }

// factorTrier returns the trier that gives a second factor after the password. Its tries do not
// count per session, since a client that knows the password can begin any number of sessions.
func (c caller) factorTrier() trier {
	return asKnown("factor of account "+strconv.FormatUint(uint64(c.account.ID), 10), c.by.Client)
}

// provenTwice is proven for a caller who also gives a second factor, if the account needs one. use
// uses the factor up, in the change that the caller makes.
func (s *Store) provenTwice(ctx context.Context, by Actor, session, password secret.Text, f Factor, needs func(record.Account) bool) (c caller, use func(*record.Account) error, err error) {
	c, err = s.signedIn(ctx, by, session)
	if err != nil {
		return caller{}, nil, err
	}
	r := proof{}.rule
	err = s.attempt(ctx, c.trier(), func() (record.AccountID, error) { return 0, s.checkAgain(c, password) })
	if err == nil && needs(c.account) {
		err = s.attempt(ctx, c.factorTrier(), func() (_ record.AccountID, err error) {
			_, r, err = s.readFactor(c, f)
			return 0, err
		})
	}
	use = func(a *record.Account) (err error) {
		if needs(c.account) || needs(*a) {
			*a, _, err = r(*a)
		}
		return err
	}
	return c, use, s.refused(ctx, c.by, record.AdminSignInRefused, c.account, err)
}

// changeOwn changes the account of a proven caller, unless its session has ended or its
// password has changed since. The event has kind k and that detail.
func (s *Store) changeOwn(ctx context.Context, c caller, k record.AdminKind, detail string, change func(*record.Account) (record.SessionChange, error)) (record.AccountChange, error) {
	return sealing(ctx, s, func(ctx context.Context) (record.AccountChange, error) {
		event := s.as(c.by).event(k, about(c.account).with(detail))
		return s.as(c.by).changeAccount(ctx, c.account.ID, c.session.Digest, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			switch {
			case !a.Active():
				return a, record.SessionChange{}, event, record.ErrSession
			case a.PasswordHash != c.account.PasswordHash:
				return a, record.SessionChange{}, event, record.ErrCredentials
			}
			sessions, err := change(&a)
			return a, sessions, event, err
		})
	})
}

// renew is changeOwn that also ends all sessions of the account, since another person
// may know them, and begins a new one. With endTokens its API tokens and webhooks end, too.
func (s *Store) renew(ctx context.Context, c caller, k record.AdminKind, detail string, endTokens bool, change func(*record.Account) error) (NewSession, error) {
	return sealing(ctx, s, func(ctx context.Context) (NewSession, error) {
		if c.at.Jumped {
			return NewSession{}, record.ErrClock
		}
		known := s.markOf(c.by, accountSubject(c.account))
		n, begins := s.newSession(c.by)
		begins = s.options().Sessions.start(begins, c.at.Now)
		c.session.SameVia(&begins)
		if c.account.SignsInElsewhere() {
			begins.CreatedAt = c.session.CreatedAt // the sign-in at the provider replaces the password
		}
		ends := record.SessionChange{Revoke: record.RevokeOthers, Begin: &begins, Most: 1, EndTokens: endTokens} // only the new session stays
		err := s.endingTokens(ctx, endTokens, func() error {
			_, err := s.changeOwn(ctx, c, k, cmp.Or(detail, endsTokens(ends)), func(a *record.Account) (record.SessionChange, error) {
				err := change(a)
				if !known.IsZero() { // else each change would make a known browser with its own tries
					n.Mark = s.markWith(nonceOf(known), accountSubject(*a))
				}
				n.SessionInfo = SessionInfo{Session: begins, IP: c.by.IP, UserAgent: cut(c.by.UserAgent), Email: a.Email, MFA: a.MFA(), TOTP: a.TOTP != "", Unconfirmed: a.Unconfirmed, Admin: a.Administers(), NoPassword: a.SignsInElsewhere()}
				return ends, err
			})
			return err
		})
		if err != nil {
			return NewSession{}, err
		}
		return n, nil
	})
}

// checkCredentials runs Argon2. ErrCredentials if the account may not act or the
// password is wrong.
func (s *Store) checkCredentials(a record.Account, password secret.Text) error {
	if a.PasswordHash == "" {
		s.options().Argon2.HashPassword(password) // so that timing does not reveal whether the account exists
		return record.ErrCredentials
	}
	ok, err := seal.VerifyPassword(a.PasswordHash, password)
	switch {
	case err != nil:
		return fmt.Errorf("%w: account %d: %w", record.ErrCorrupt, a.ID, err)
	case !ok || !a.Active():
		return record.ErrCredentials
	}
	return nil
}
