package store

import (
	"time"

	"pushbox/internal/secret"
)

// An AccountID names an account for good; a removed account's ID is not given
// out again. 0 is nobody.
type AccountID uint64

// An Account is somebody who may own pushes.
type Account struct {
	ID           AccountID
	Email        string // in lower case
	PasswordHash string // Argon2id in PHC string form
	CreatedAt    time.Time
	Disabled     bool   // no token or session of it is valid
	Removing     bool   // its pushes are being purged; it will be gone when they are
	TOTP         string // the secret of its second factor, sealed; empty: it has none
	TOTPStep     int64  // codes count steps of 30 seconds since 1970: the last of which one was accepted
	Recovery     string // digests of the recovery codes that are left, one behind the other
}

// Active reports whether the account may act.
func (a Account) Active() bool { return !a.Disabled && !a.Removing }

// MFA reports whether signing in takes a second factor.
func (a Account) MFA() bool { return a.TOTP != "" }

// A TokenID names an API token among all; it is not a secret.
type TokenID uint64

// A TokenDigest is the SHA-256 digest of an API token.
type TokenDigest [32]byte

// An APIToken lets a program act as an account. The token itself is not kept.
type APIToken struct {
	ID         TokenID
	Digest     TokenDigest
	Owner      AccountID
	Label      string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // written once a minute at most; zero: never
}

// An Actor is who asks for something, as far as permission and the audit log
// care.
type Actor struct {
	Account   AccountID // 0: anonymous
	Client    string    // what limits count by: an IPv4 address or an IPv6 /64
	IP        string
	UserAgent string
	Referrer  string
}

// NewAPIToken is an API token that was just made: the only time it can be seen.
type NewAPIToken struct {
	APIToken
	Secret secret.Text
}
