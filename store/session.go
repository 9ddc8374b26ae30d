package store

import (
	"crypto/rand"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
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

// A SessionID names a session; it is not a secret.
type SessionID uint64

// A SessionDigest is the SHA-256 digest of a session's secret.
type SessionDigest [32]byte

// A Session lets a browser use the pages as an account. Its secret is not kept.
type Session struct {
	ID         SessionID
	Digest     SessionDigest
	Owner      AccountID
	CreatedAt  time.Time
	LastUsedAt time.Time // written once a minute at most
	ExpiresAt  time.Time // however much it is used; zero: never
	Pending    bool      // it waits for the code of the second factor
	Sealed     []byte    // the IP address and the user agent that it began with
	Via        Identity  // by which its user signed in; zero: with a password
	ViaName    string    // of Via: what the provider calls its own session; may be empty
	Strong     bool      // of Via: the provider asked for a second factor
}

// A SessionInfo is an opened session.
type SessionInfo struct {
	Session
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

// over reports whether a session has ended by t.
func (l SessionLimits) over(s Session, t time.Time) bool { return l.cutoff(t).Ended(s) }

// cutoff says which sessions have ended by t.
func (l SessionLimits) cutoff(t time.Time) SessionCutoff {
	c := SessionCutoff{Expired: t, Begun: t.Add(clock.BelievedJump)}
	if l.Idle > 0 {
		c.Unused = t.Add(-l.Idle)
	}
	return c
}

// A SessionCutoff says which sessions have ended at one moment.
type SessionCutoff struct {
	Expired time.Time // those whose ExpiresAt is set and not after this
	Unused  time.Time // those last used no later than this; zero: does not matter
	Begun   time.Time // those created after this: the clock was wrong, and they would last too long
}

// Ended reports whether s has ended.
func (c SessionCutoff) Ended(s Session) bool {
	return before(s.ExpiresAt, c.Expired) || !c.Unused.IsZero() && !s.LastUsedAt.After(c.Unused) || s.CreatedAt.After(c.Begun)
}

// A Revoke says which of an account's sessions end.
type Revoke uint8

// What a change revokes.
const (
	RevokeNone   Revoke = iota
	RevokeOwn           // the caller's
	RevokeOthers        // all but the caller's; all if the caller has none
	RevokeVia           // those that SessionChange.Via selects
)

// A ViaSelection selects sessions that began at a provider by a moment.
type ViaSelection struct {
	Of   Identity
	Name string // the provider's name of the session; empty: all of the identity's
	By   time.Time
}

func (v ViaSelection) has(s Session) bool {
	return s.Via == v.Of && (v.Name == "" || s.ViaName == v.Name) && !s.CreatedAt.After(v.By)
}

// A SessionChange is what a change of an account does to its sessions and API tokens, and
// the mail that it sends.
type SessionChange struct {
	Revoke Revoke
	Via    ViaSelection // for RevokeVia
	Begin  *Session     // a session that begins, under a new ID; nil: none
	Most   int          // how many sessions as pending as Begin may then exist: the oldest go

	EndTokens bool      // all of its API tokens end
	Token     *APIToken // one that begins, under a new ID; nil: none

	Mail *MailBatch // nil: none

	EvenLast   bool      // it may leave the instance without an account that administers
	OtherAdmin AccountID // one that administers still, if this one does so no more; 0: none is known

	// Successor is a new account, without identities, under the address that this one gives up. The
	// event is about it. nil: none.
	Successor *Account

	Untold bool // the change has no event, since it is of counts or of a code alone
}

// An AccountRule decides one change of an account and of its sessions, and returns the
// event that tells it. Like a Rule it is pure, quick, and may run several times. If it
// changes nothing and sends nothing, nothing is written, and no event.
type AccountRule func(a Account) (next Account, t SessionChange, e AdminEvent, err error)

// An AccountChange is what an AccountRule did.
type AccountChange struct {
	Account Account
	Session Session // the one that began
	Token   TokenID // of the API token that began
}

// randomText returns n random bytes in lower-case base32.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return tokenEncoding.EncodeToString(b)
}
