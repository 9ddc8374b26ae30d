package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// sessionSize is how many random bytes are in a session's secret.
const sessionSize = 20

// Resume returns a session, by its secret, as it was before this use, and records the
// use. A session with Pending allows nothing but SignInCode. ErrSession if the session
// is unknown or over, or its account may not act.
func (s *Store) Resume(ctx context.Context, session secret.Text) (SessionInfo, error) {
	c, err := s.caller(ctx, Actor{}, session)
	if err != nil {
		return SessionInfo{}, err
	}
	err = noteUse(c.session.LastUsedAt, c.at, func() error {
		return cold.TouchSession(ctx, s.engine, c.session.Digest, c.at.Now)
	})
	if err != nil {
		return SessionInfo{}, err
	}
	return s.sessionInfo(c.session, c.account)
}

// SignOut ends a session at once. An unknown one is no error.
func (s *Store) SignOut(ctx context.Context, by Actor, session secret.Text) error {
	found, owner, err := cold.Session(ctx, s.engine, seal.Digest(session))
	if err == nil {
		err = s.as(by.proved(owner.ID)).removeSession(ctx, owner, found.ID, record.AdminSignOut)
	}
	return instead(err, record.ErrNotFound, nil)
}

// Sessions lists the sessions of the account of a session, newest first, except pending ones.
// ErrSession.
func (s *Store) Sessions(ctx context.Context, session secret.Text) ([]SessionInfo, error) {
	c, err := s.signedIn(ctx, Actor{}, session)
	if err != nil {
		return nil, err
	}
	list, err := cold.Sessions(ctx, s.engine, c.account.ID, MaxSessions+maxPending)
	if err != nil {
		return nil, err
	}
	var infos []SessionInfo
	for _, one := range list {
		if one.Pending || s.options().Sessions.over(one, c.at.Denies) {
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

// EndSession ends a session of the account of a session, possibly that same one.
// ErrSession; ErrNotFound if the account has no such session.
func (s *Store) EndSession(ctx context.Context, by Actor, session secret.Text, id record.SessionID) error {
	c, err := s.signedIn(ctx, by, session)
	if err != nil {
		return err
	}
	return s.as(c.by).removeSession(ctx, c.account, id, record.AdminSessionEnd)
}

// A caller is an actor with a session.
type caller struct {
	by      Actor
	session record.Session
	account record.Account
	at      clock.Instant
}

// caller returns the actor with its session. ErrSession if the session has ended.
func (s *Store) caller(ctx context.Context, by Actor, session secret.Text) (caller, error) {
	found, a, err := cold.Session(ctx, s.engine, seal.Digest(session))
	at := s.time.Read()
	switch {
	case err != nil:
		return caller{}, instead(err, record.ErrNotFound, record.ErrSession)
	case !a.Active(), s.options().Sessions.over(found, at.Denies):
		return caller{}, record.ErrSession
	}
	return caller{by.proved(a.ID), found, a, at}, nil
}

// signedIn is caller for actions that a pending session does not allow.
func (s *Store) signedIn(ctx context.Context, by Actor, session secret.Text) (caller, error) {
	c, err := s.caller(ctx, by, session)
	if err == nil && c.session.Pending {
		return caller{}, record.ErrSession
	}
	return c, err
}

// startSession begins a session in a change of its account. The session replaces the session asks,
// unless that is zero. how is the detail of the event, and via records the provider at which the
// user signed in, if any. ErrClock while the clock is in doubt.
func (s *Store) startSession(ctx context.Context, by Actor, of record.Account, asks record.SessionDigest, how string, via func(*record.Session), r startRule) (NewSession, error) {
	return sealing(ctx, s, func(ctx context.Context) (NewSession, error) {
		at := s.time.Read()
		if at.Jumped {
			return NewSession{}, record.ErrClock
		}
		n, begins := s.newSession(by)
		full, half := s.as(by).event(record.AdminSignIn, about(of).with(how)), s.as(by).event(record.AdminFirstFactor, about(of).with(how))
		c, err := s.as(by).changeAccount(ctx, of.ID, asks, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			next, pending, err := r(a)
			if err != nil {
				return a, record.SessionChange{}, full, err
			}
			one := begins
			if via != nil {
				via(&one)
			}
			one.Pending = pending
			one = s.options().Sessions.start(one, at.Now)
			if pending {
				return next, record.SessionChange{Revoke: record.RevokeOwn, Begin: &one, Most: maxPending}, half, nil
			}
			next.SignedInAt = at.Now
			return next, record.SessionChange{Revoke: record.RevokeOwn, Begin: &one, Most: MaxSessions}, full, nil
		})
		if err != nil {
			return NewSession{}, err
		}
		if n.SessionInfo, err = s.sessionInfo(c.Session, c.Account); err != nil {
			return NewSession{}, err
		}
		if !n.Pending {
			n.Mark = s.newMark(by, accountSubject(c.Account))
		}
		return n, nil
	})
}

// newSession makes a secret and its session, without times.
func (s *Store) newSession(by Actor) (NewSession, record.Session) {
	n := NewSession{Secret: secret.New(randomText(sessionSize))}
	digest := seal.Digest(n.Secret)
	return n, record.Session{Digest: digest, Sealed: s.sealOrigin(digest, by)}
}

// A startRule decides whether a session begins, and whether it is pending. It runs
// inside an AccountRule.
type startRule func(a record.Account) (next record.Account, pending bool, err error)

// sealOrigin seals the client with which a session begins.
func (s *Store) sealOrigin(d record.SessionDigest, by Actor) []byte {
	return s.ring.Load().SealAccount(d[:], record.AppendBytes(record.AppendBytes(nil, by.IP), cut(by.UserAgent)))
}

func (s *Store) sessionInfo(of record.Session, a record.Account) (SessionInfo, error) {
	plain, err := s.ring.Load().OpenAccount(of.Digest[:], of.Sealed)
	r := record.Reader{Rest: plain}
	info := SessionInfo{Session: of, IP: string(r.Bytes()), UserAgent: string(r.Bytes()), Email: a.Email, MFA: a.MFA(), TOTP: a.TOTP != "", TOTPSince: a.TOTPSince, RecoveryCodes: len(a.Recovery) / record.RecoverySize, Unconfirmed: a.Unconfirmed, Admin: a.Administers(), NoPassword: a.SignsInElsewhere(), Language: a.Language}
	if err != nil || r.End() != nil {
		return SessionInfo{}, fmt.Errorf("%w: the origin of session %d cannot be decrypted", record.ErrCorrupt, of.ID)
	}
	return info, nil
}

const (
	clearBatch = 256              // sessions read in one step
	clearRest  = 10 * time.Minute // between two reads of all sessions: an ended session allows nothing anyway
)

// clearSessions removes the sessions that have ended, unless the clock is in doubt.
func (s *Store) clearSessions(ctx context.Context, at clock.Instant) error {
	if at.Now != at.Ends || at.Ends.Sub(s.cleared) < clearRest {
		return nil
	}
	ended := s.options().Sessions.cutoff(at.Ends)
	var last record.SessionDigest
	for more := true; more; {
		var err error
		if last, more, err = cold.ClearSessions(ctx, s.engine, last, clearBatch, ended); err != nil {
			return err
		}
	}
	s.cleared = at.Ends
	return nil
}

const (
	// MaxSessions is how many sessions an account may have: another one replaces the oldest.
	MaxSessions = 100
	// maxPending is how many pending sessions an account may have. They do not replace other
	// sessions: a password alone must not end sessions.
	maxPending = 10
	// pendingLasts is how long a pending session waits for its code.
	pendingLasts = 10 * time.Minute
)

// A SessionInfo is an opened session.
type SessionInfo struct {
	record.Session
	IP        string    // that it began from
	UserAgent string    // that it began with
	Email     string    // of the account
	MFA       bool      // the account has a second factor
	TOTP      bool      // one of them is an authenticator app
	TOTPSince time.Time // in Sessions and Session: when the app was added; zero: it is not known

	RecoveryCodes int // that it has left

	Unconfirmed bool // the address of the account is not confirmed
	Admin       bool // the account administers
	NoPassword  bool // the account signs in elsewhere

	Language string // of the account; empty: the browser's
	Own      bool   // in Sessions: it is the caller's
}

// A NewSession is a session at its beginning, the only time that its secret can be
// seen.
type NewSession struct {
	SessionInfo
	Secret secret.Text
	Mark   secret.Text // identifies the browser from now on: see Actor.Marks; zero if the session is pending
}

// SessionLimits say how long sessions last. 0: no limit.
type SessionLimits struct {
	Idle   time.Duration // without use
	MaxAge time.Duration // in all
}

// start sets the times of a session that begins at t.
func (l SessionLimits) start(s record.Session, t time.Time) record.Session {
	s.CreatedAt, s.LastUsedAt = t, t
	age := l.MaxAge
	if s.Pending && (age == 0 || age > pendingLasts) {
		age = pendingLasts
	}
	if age > 0 {
		s.ExpiresAt = t.Add(age)
	}
	return s
}

// over reports whether a session has ended by t.
func (l SessionLimits) over(s record.Session, t time.Time) bool { return l.cutoff(t).Ended(s) }

// cutoff returns which sessions have ended by t.
func (l SessionLimits) cutoff(t time.Time) record.SessionCutoff {
	c := record.SessionCutoff{Expired: t, Begun: t.Add(clock.BelievedJump)}
	if l.Idle > 0 {
		c.Unused = t.Add(-l.Idle)
	}
	return c
}

// randomText returns n random bytes in lower-case base32.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return record.Encoding.EncodeToString(b)
}
