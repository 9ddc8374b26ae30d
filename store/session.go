package store

import (
	"crypto/rand"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
)

const (
	// MaxSessions is how many sessions an account may have: a new one replaces the
	// oldest.
	MaxSessions = 100
	// maxPending is how many pending sessions an account may have. They replace no
	// other session: a password alone must not end sessions.
	maxPending = 10
	// pendingLasts is how long a pending session waits for its code.
	pendingLasts = 10 * time.Minute
)

// A SessionInfo is an opened session.
type SessionInfo struct {
	record.Session
	IP        string // that it began from
	UserAgent string // that it began with
	Email     string // of the account
	MFA       bool   // the account has a second factor
	TOTP      bool   // one of them is an authenticator app

	RecoveryCodes int // that it has left

	Unconfirmed bool // the address of the account is not confirmed
	Admin       bool // the account administers
	NoPassword  bool // the account signs in elsewhere

	Language string // of the account; empty: that of the browser
	Own      bool   // in Sessions: it is the caller's
}

// A NewSession is a session at its beginning, the only time that its secret can be
// seen.
type NewSession struct {
	SessionInfo
	Secret secret.Text
	Mark   secret.Text // by which the browser is known from now on: see Actor.Marks; zero if the session is pending
}

// SessionLimits say how long sessions last. 0: for good.
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

// cutoff says which sessions have ended by t.
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
