package store

import (
	"time"

	"pushbox/internal/secret"
)

// An AccountID names an account; the ID of a removed account is never used again. 0 is
// no account.
type AccountID uint64

// An Account may own pushes.
type Account struct {
	ID           AccountID
	Email        string // in lower case
	PasswordHash string // Argon2id in PHC string form; bcrypt until the first sign-in of an imported account
	CreatedAt    time.Time
	Disabled     bool        // none of its tokens and sessions is valid
	Removing     bool        // its pushes are being purged, and it goes after them
	Admin        bool        // it is an administrator's: on the pages and by the API it manages accounts and the instance
	TOTP         string      // the secret of its authenticator app, sealed; empty: it has none
	TOTPStep     int64       // the last step whose code was accepted: steps are 30 seconds, counted since 1970
	Recovery     string      // digests of the remaining recovery codes, concatenated
	SignedInAt   time.Time   // the last sign-in on the pages; zero: none yet
	Unconfirmed  bool        // its user signed up and has not shown that the address is theirs: it sends no mail
	Code         AddressCode // of an address that is not confirmed
	Identities   Identities  // by which sign-in providers know its user
	Passkeys     string      // records of its passkeys, concatenated
	Name         string      // what recipients see of its user; empty: nothing
	Language     string      // of its pages and mails; empty: that of the browser
	Mails        EventSet    // which events of its pushes are mailed to it
	Policy       string      // the name of its policy in the settings; empty: none but that for all
}

// Active reports whether the account may act.
func (a Account) Active() bool { return !a.Disabled && !a.Removing }

// Administers reports whether the account may manage others. One that was invited does not
// before its user can sign in.
func (a Account) Administers() bool { return a.Admin && a.Active() && !a.Invited() }

// Invited reports whether the account has no way to sign in yet: it has no password, and no
// provider knows its user.
func (a Account) Invited() bool { return a.PasswordHash == "" && a.Identities == "" }

// SignsInElsewhere reports whether the account has no password, and a provider in its place.
func (a Account) SignsInElsewhere() bool { return a.PasswordHash == "" && a.Identities != "" }

// MFA reports whether signing in takes a second factor.
func (a Account) MFA() bool { return a.TOTP != "" || a.Passkeys != "" }

// A TokenID names an API token; it is not a secret.
type TokenID uint64

// A TokenDigest is the SHA-256 digest of an API token.
type TokenDigest [32]byte

// An APIToken lets a program act as an account. The token itself is not kept.
type APIToken struct {
	ID         TokenID
	Digest     TokenDigest
	Owner      AccountID
	Label      string
	Scopes     Scopes
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // written once a minute at most; zero: never
}

// An Actor is who does something, for permissions and the audit log.
type Actor struct {
	Role      Role
	Account   AccountID     // of a Client; 0: anonymous
	Client    string        // that limits count by: an IPv4 address or an IPv6 /64
	Marks     []secret.Text // that the browser got from a Store: see NewSession.Mark and PushInfo.Mark
	Local     bool          // a program on this machine: its pushes count against no room of a client
	IP        string
	UserAgent string
	Referrer  secret.Text // it may hold a link

	ReceiptCode secret.Text // of the push at hand
}

// TokenTerms say what an API token is to be.
type TokenTerms struct {
	Label    string
	Lifetime time.Duration // 0: for good
	Scopes   Scopes        // 0: all
}

// A NewAPIToken is an API token at its creation, the only time that its secret can be
// seen.
type NewAPIToken struct {
	APIToken
	Secret secret.Text
}
