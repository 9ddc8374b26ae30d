package store

import (
	"crypto/rand"
	"time"

	"pushbox/internal/secret"
)

const (
	// MaxSessions is how many sessions an account has at the same time: a new one
	// takes the place of the oldest.
	MaxSessions = 100
	// maxPending is how many sign-ins of an account may wait for a code. They take
	// no session's place: a password alone must not end what others began.
	maxPending = 10
	// pendingLasts is how long one waits for it.
	pendingLasts = 10 * time.Minute
)

// A SessionID names a session among all; it is not a secret.
type SessionID uint64

// A SessionDigest is the SHA-256 digest of a session's secret.
type SessionDigest [32]byte

// A Session is somebody signed in to the pages as an account. Its secret is not
// kept.
type Session struct {
	ID         SessionID
	Digest     SessionDigest
	Owner      AccountID
	CreatedAt  time.Time
	LastUsedAt time.Time // written once a minute at most
	ExpiresAt  time.Time // its end, however much it is used; zero: never
	Pending    bool      // the password was accepted, the code of the second factor is awaited
	Sealed     []byte    // the address and the agent that it was begun with
}

// A SessionInfo is what the store tells of a session.
type SessionInfo struct {
	Session
	IP        string // that it was begun from
	UserAgent string // that it was begun with
	Email     string // of the account
	MFA       bool   // the account has a second factor
	Own       bool   // in Sessions: it is the one that asks
}

// A NewSession is a session that was just begun: the only time its secret can be
// seen.
type NewSession struct {
	SessionInfo
	Secret secret.Text
}

// SessionLimits say how long sessions last. 0: for good.
type SessionLimits struct {
	Idle   time.Duration // without use
	MaxAge time.Duration // in all
}

// start fills in a session that begins at t.
func (l SessionLimits) start(s Session, t time.Time) Session {
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

// over reports whether a session has ended by t. One that began more than a day
// after t was begun by a clock that was wrong, and would hardly ever end.
func (l SessionLimits) over(s Session, t time.Time) bool {
	return before(s.ExpiresAt, t) || l.Idle > 0 && t.Sub(s.LastUsedAt) >= l.Idle || s.CreatedAt.Sub(t) > believedJump
}

// An Ending says which of an account's sessions end.
type Ending uint8

// The endings.
const (
	EndNone   Ending = iota
	EndOwn           // the one that asks
	EndOthers        // all but the one that asks: all, where none does
)

// A Turnover is what becomes of an account's sessions when the account changes.
type Turnover struct {
	Ends   Ending
	Begins *Session // comes, under a new ID, as one of the account; nil: none
	Most   int      // sessions as pending as that one which may then be there: the oldest go
}

// An AccountRule decides one change of an account and of its sessions. Like a
// Rule it is pure, quick, and may run several times. Where it changes nothing,
// nothing is written.
type AccountRule func(a Account) (next Account, t Turnover, err error)

// An AccountChange tells what an AccountRule did.
type AccountChange struct {
	Account Account
	Session Session // the one that began
}

// randomText returns n random bytes in lower-case base32.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return tokenEncoding.EncodeToString(b)
}
