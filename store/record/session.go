package record

import (
	"fmt"
	"time"
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
	ExpiresAt  time.Time // even if it is used; zero: never
	Pending    bool      // it waits for the code of the second factor
	Sealed     []byte    // the IP address and the user agent that it began with
	Via        Identity  // the identity by which its user signed in; zero: with a password
	ViaName    string    // of Via: the provider's name for its session; may be empty
	Strong     bool      // of Via: the provider asked for a second factor
}

// A SessionCutoff says which sessions have ended at one moment.
type SessionCutoff struct {
	Expired time.Time // those whose ExpiresAt is set and not after this
	Unused  time.Time // those last used no later than this; zero: any
	Begun   time.Time // those created after this: the clock was wrong, and they would last too long
}

// Ended reports whether s has ended.
func (c SessionCutoff) Ended(s Session) bool {
	return Before(s.ExpiresAt, c.Expired) || !c.Unused.IsZero() && !s.LastUsedAt.After(c.Unused) || s.CreatedAt.After(c.Begun)
}

// A Revoke says which of an account's sessions end.
type Revoke uint8

// The sessions that a change ends.
const (
	RevokeNone   Revoke = iota
	RevokeOwn           // the caller's
	RevokeOthers        // all but the caller's; all if the caller has none
	RevokeVia           // those that SessionChange.Via selects
)

// A ViaSelection selects sessions that began at a provider before a moment.
type ViaSelection struct {
	Of   Identity
	Name string // the provider's name of the session; empty: all sessions of the identity
	By   time.Time
}

// Has reports whether the selection has a session.
func (v ViaSelection) Has(s Session) bool {
	return s.Via == v.Of && (v.Name == "" || s.ViaName == v.Name) && !s.CreatedAt.After(v.By)
}

// A SessionChange describes what a change of an account does to its sessions, API tokens and
// webhooks, and the mail that it sends.
type SessionChange struct {
	Revoke Revoke
	Via    ViaSelection // for RevokeVia
	Begin  *Session     // a session that begins, under a new ID; nil: none
	Most   int          // how many sessions may exist that are pending like Begin: the oldest are removed

	EndTokens bool      // all its API tokens and webhooks end
	Token     *APIToken // one that begins, under a new ID; nil: none
	Hook      *Hook     // a webhook that is added, under a new ID; nil: none

	Mail *MailBatch // nil: none

	EvenLast   bool      // it may leave the instance without an administrator
	OtherAdmin AccountID // another administrator, if this account stops being one; 0: none is known

	// Successor is a new account, without identities, under the old address of this one. The event
	// is about the successor. nil: none.
	Successor *Account

	Untold bool // the change has no event, since it changes only counts or a code
}

// An AccountRule decides one change of an account and of its sessions, and returns the event that
// reports it. Like a Rule it is pure, quick, and may run several times. If it changes nothing and
// sends nothing, the engine writes nothing, not even the event.
type AccountRule func(a Account) (next Account, t SessionChange, e AdminEvent, err error)

// An AccountChange is the result of an AccountRule.
type AccountChange struct {
	Account Account
	Session Session // the new session
	Token   TokenID // of the API token that began
	Hook    HookID  // of the webhook that was added
}

// SameVia copies to a session how the user of this one signed in.
func (s Session) SameVia(next *Session) {
	next.Via, next.ViaName, next.Strong = s.Via, s.ViaName, s.Strong
}

// Key is the digest.
func (s Session) Key() []byte { return s.Digest[:] }

// Title is the ID.
func (s Session) Title() string { return fmt.Sprintf("session %d", s.ID) }

// Belongs returns the owner.
func (s Session) Belongs() AccountID { return s.Owner }

func readSession(key []byte) (s Session, ok bool) {
	if len(key) != len(s.Digest) {
		return s, false
	}
	return Session{Digest: SessionDigest(key)}, true
}
