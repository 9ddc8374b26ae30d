package store

import (
	"context"
	"fmt"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// sessionSize is how many random bytes are in a session's secret.
const sessionSize = 20

// Resume returns the session of that secret, as it was before this use, and notes
// that it was used. One that awaits the code of the second factor comes with Pending, and allows nothing but
// SignInCode. ErrSession if the session is unknown, was not used for too long or
// has lasted too long, or if its account may not act.
func (s *Store) Resume(ctx context.Context, session secret.Text) (SessionInfo, error) {
	c, err := s.caller(ctx, session)
	if err != nil {
		return SessionInfo{}, err
	}
	err = noteUse(c.session.LastUsedAt, c.at, func() error {
		return s.engine.TouchSession(ctx, c.session.Digest, c.at.now)
	})
	if err != nil {
		return SessionInfo{}, err
	}
	return s.sessionInfo(c.session, c.account)
}

// SignOut ends a session at once, if there is one of that secret.
func (s *Store) SignOut(ctx context.Context, session secret.Text) error {
	found, _, err := s.engine.Session(ctx, seal.Digest(session))
	if err == nil {
		err = s.engine.RemoveSession(ctx, found.Owner, found.ID)
	}
	return instead(err, ErrNotFound, nil)
}

// Sessions lists the sessions of the account that a session is of, newest first,
// but for those that are pending. ErrSession.
func (s *Store) Sessions(ctx context.Context, session secret.Text) ([]SessionInfo, error) {
	c, err := s.signedIn(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := s.engine.Sessions(ctx, c.account.ID, MaxSessions+maxPending)
	if err != nil {
		return nil, err
	}
	var infos []SessionInfo
	for _, one := range list {
		if one.Pending || s.options().Sessions.over(one, c.at.denies) {
			continue
		}
		info, err := s.sessionInfo(one, c.account)
		if err != nil {
			return nil, err
		}
		info.Own = one.ID == c.session.ID
		infos = append(infos, info)
	}
	return infos, nil
}

// EndSession ends a session of the account that a session is of, which may be
// that one. ErrSession; ErrNotFound if the account has no such session.
func (s *Store) EndSession(ctx context.Context, session secret.Text, id SessionID) error {
	c, err := s.signedIn(ctx, session)
	if err != nil {
		return err
	}
	return s.engine.RemoveSession(ctx, c.account.ID, id)
}

// A caller is somebody with a session.
type caller struct {
	session Session
	account Account
	at      instant
}

// caller finds a session that has not ended. ErrSession.
func (s *Store) caller(ctx context.Context, session secret.Text) (caller, error) {
	found, a, err := s.engine.Session(ctx, seal.Digest(session))
	at := s.time.read()
	switch {
	case err != nil:
		return caller{}, instead(err, ErrNotFound, ErrSession)
	case !a.Active(), s.options().Sessions.over(found, at.denies):
		return caller{}, ErrSession
	}
	return caller{found, a, at}, nil
}

// signedIn is caller for what a pending session does not allow.
func (s *Store) signedIn(ctx context.Context, session secret.Text) (caller, error) {
	c, err := s.caller(ctx, session)
	if err == nil && c.session.Pending {
		return caller{}, ErrSession
	}
	return c, err
}

// startSession begins a session of an account by a change of it: the rule says
// whether it may begin, and whether it is pending. It takes the place of the one
// that asks, if one does. ErrClock while the clock is in doubt.
func (s *Store) startSession(ctx context.Context, by Actor, id AccountID, asks SessionDigest, r startRule) (NewSession, error) {
	at := s.time.read()
	if at.jumped {
		return NewSession{}, ErrClock
	}
	n, begins := s.newSession(by)
	c, err := s.engine.ChangeAccount(ctx, id, asks, func(a Account) (Account, Turnover, error) {
		next, pending, err := r(a)
		if err != nil {
			return a, Turnover{}, err
		}
		one := begins
		one.Pending = pending
		one = s.options().Sessions.start(one, at.now)
		t := Turnover{Ends: EndOwn, Begins: &one, Most: MaxSessions}
		if pending {
			t.Most = maxPending
		}
		return next, t, nil
	})
	if err != nil {
		return NewSession{}, err
	}
	if n.SessionInfo, err = s.sessionInfo(c.Session, c.Account); err != nil {
		return NewSession{}, err
	}
	return n, nil
}

// newSession makes a secret and what is kept of a session that it opens, which has
// not begun.
func (s *Store) newSession(by Actor) (NewSession, Session) {
	n := NewSession{Secret: secret.New(randomText(sessionSize))}
	digest := seal.Digest(n.Secret)
	return n, Session{Digest: digest, Sealed: s.sealOrigin(digest, by)}
}

// A startRule decides whether a session begins, and whether it is pending. It is
// part of an AccountRule.
type startRule func(a Account) (next Account, pending bool, err error)

// sealOrigin seals where a session is begun.
func (s *Store) sealOrigin(d SessionDigest, by Actor) []byte {
	return s.ring.Load().SealAccount(d[:], appendBytes(appendBytes(nil, by.IP), cut(by.UserAgent)))
}

func (s *Store) sessionInfo(of Session, a Account) (SessionInfo, error) {
	plain, err := s.ring.Load().OpenAccount(of.Digest[:], of.Sealed)
	r := reader{b: plain}
	info := SessionInfo{Session: of, IP: string(r.bytes()), UserAgent: string(r.bytes()), Email: a.Email, MFA: a.MFA()}
	if err != nil || r.end() != nil {
		return SessionInfo{}, fmt.Errorf("%w: the origin of session %d does not open", ErrCorrupt, of.ID)
	}
	return info, nil
}

const (
	clearBatch = 256              // sessions looked at in one step
	clearRest  = 10 * time.Minute // between two looks at all of them: what has ended allows nothing anyway
)

// clearSessions removes the sessions that have ended. A clock in doubt ends none.
func (s *Store) clearSessions(ctx context.Context, at instant) error {
	if at.now != at.ends || at.ends.Sub(s.cleared) < clearRest {
		return nil
	}
	over := func(one Session) bool { return s.options().Sessions.over(one, at.ends) }
	var last SessionDigest
	for more := true; more; {
		var err error
		if last, more, err = s.engine.ClearSessions(ctx, last, clearBatch, over); err != nil {
			return err
		}
	}
	s.cleared = at.ends
	return nil
}
