package record

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"pushbox/internal/email"
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
	Removing     bool        // its pushes are being purged; it is removed after them
	Admin        bool        // it is an administrator: it manages accounts and the instance, on the pages and by the API
	TOTP         string      // the secret of its authenticator app, sealed; empty: it has none
	TOTPSince    time.Time   // when the app was added; zero: there is none, or an earlier release added it
	TOTPStep     int64       // the last step whose code was accepted: steps are 30 seconds, counted since 1970
	Recovery     string      // digests of the remaining recovery codes, concatenated
	SignedInAt   time.Time   // the last sign-in on the pages; zero: none yet
	Unconfirmed  bool        // its user signed up and has not proved that they own the address: it sends no mail
	Code         AddressCode // for an address that is not confirmed
	Identities   Identities  // the names of its user at sign-in providers
	Passkeys     string      // records of its passkeys, concatenated
	Name         string      // the name of its user that recipients see; empty: none
	Language     string      // of its pages and mails; empty: the browser's
	Mails        EventSet    // which events of its pushes are mailed to it
	Policy       string      // the name of its policy in the settings; empty: the general settings apply
}

// Active reports whether the account may act.
func (a Account) Active() bool { return !a.Disabled && !a.Removing }

// Administers reports whether the account may manage others. An invited account may not, until its
// user can sign in.
func (a Account) Administers() bool { return a.Admin && a.Active() && !a.Invited() }

// Invited reports whether the account has no way to sign in yet: it has no password, and no
// provider knows its user.
func (a Account) Invited() bool { return a.PasswordHash == "" && a.Identities == "" }

// SignsInElsewhere reports whether the account has a sign-in provider and no password.
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

// Limits of accounts and API tokens.
const (
	MaxEmail    = email.MaxLength // bytes
	MinPassword = 10              // characters
	MaxPassword = 1024            // bytes
	MaxLabel    = 100             // bytes
	MaxTokens   = 25              // of an account, with expired ones
)

// Before reports whether t is set and not after now.
func Before(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// DropRecovery removes the recovery codes of an account without a second factor.
func (a *Account) DropRecovery() {
	if !a.MFA() {
		a.Recovery = ""
	}
}

// RecoverySize is how many bytes the digest of a recovery code has.
const RecoverySize = 16

// Limits of the codes that are mailed to an address to confirm it.
const (
	CodeTries   = 5 // wrong tries, after which a code is used up
	CodesPerDay = 5 // of an account, in UTC
)

// An AddressCode describes the codes that were mailed to the address of an account. Zero: none was
// mailed.
type AddressCode struct {
	Sum    [16]byte  // HMAC of the last code; zero: it is used up
	SentAt time.Time // when it was made
	Wrong  int       // wrong codes that were entered since
	Sent   int       // codes sent on the day of SentAt, including the last
}

// append appends the record to b.
func (c AddressCode) append(b []byte) []byte {
	b = AppendTime(append(b, c.Sum[:]...), c.SentAt)
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.Wrong)), uint64(c.Sent))
}

// addressCode reads what append wrote.
func (r *Reader) addressCode() AddressCode {
	c := AddressCode{Sum: [16]byte(r.Take(16)), SentAt: r.Time(), Wrong: int(r.Uvarint(CodeTries)), Sent: int(r.Uvarint(CodesPerDay))}
	if c.SentAt.IsZero() || c.Sent == 0 {
		r.Bad = true
	}
	return c
}

// Confirm marks the address of the account as confirmed.
func (a *Account) Confirm() { a.Unconfirmed, a.Code = false, AddressCode{} }

// MaxPasskeys is how many passkeys an account may have.
const MaxPasskeys = 10

// A PasskeyID names a passkey among those of its account; it is not a secret.
type PasskeyID [16]byte

// String returns the ID in hexadecimal.
func (id PasskeyID) String() string { return hex.EncodeToString(id[:]) }

// A Passkey is a passkey in the record of an account. The key is public. The name and what a
// browser needs to find the passkey are sealed: they describe its user's devices.
type Passkey struct {
	ID            PasskeyID
	Key           []byte // public, in COSE form
	Count         uint32 // the device's counter at the last use; 0: it does not count
	Created, Used time.Time
	Sealed        []byte // passkeyDetails
}

// PasskeyList reads the passkeys of an account. Their times are those of the record, in whole
// milliseconds.
func (a Account) PasskeyList() (all []Passkey, err error) {
	for r := (Reader{Rest: []byte(a.Passkeys)}); len(r.Rest) > 0; {
		p := Passkey{ID: PasskeyID(r.Take(16)), Key: r.Bytes(), Count: uint32(r.Uvarint(1<<32 - 1)), Created: r.Time(), Used: r.Time(), Sealed: r.Bytes()}
		if all = append(all, p); r.Bad || len(all) > MaxPasskeys {
			return nil, ErrRecord
		}
	}
	return all, nil
}

// SetPasskeyList gives the account these passkeys in place of all that it has.
func (a *Account) SetPasskeyList(all []Passkey) {
	var b []byte
	for _, p := range all {
		b = binary.AppendUvarint(AppendBytes(append(b, p.ID[:]...), p.Key), uint64(p.Count))
		b = AppendBytes(AppendTime(AppendTime(b, p.Created), p.Used), p.Sealed)
	}
	a.Passkeys = string(b)
	a.DropRecovery()
}

// Key is the ID.
func (a Account) Key() []byte { return NumberKey(uint64(a.ID)) }

// Title is the ID.
func (a Account) Title() string { return fmt.Sprintf("account %d", a.ID) }

// Belongs returns 0.
func (Account) Belongs() AccountID { return 0 }

// Key is the digest.
func (t APIToken) Key() []byte { return t.Digest[:] }

// Title is the ID.
func (t APIToken) Title() string { return fmt.Sprintf("token %d", t.ID) }

// Belongs returns the owner.
func (t APIToken) Belongs() AccountID { return t.Owner }
