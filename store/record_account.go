package store

import (
	"encoding/binary"
	"time"
)

// Flags of an account record, in the order in which AppendBinary sets them.
const (
	flagDisabled = 1 << iota
	flagRemoving
	flagSignedIn // the record has the time of the last sign-in
	flagUnconfirmed
	flagCode // the record has an AddressCode
	flagAdmin
	flagIdentities // the record has Identities
	flagPasskeys   // the record has passkeys
	flagWishes     // the record has Name, Language and Mails
	flagPolicy     // the record has Policy

	allAccountFlags = 1<<iota - 1
)

// Flags of a session record.
const (
	flagPending = 1 << iota
	flagVia     // the record has the identity and the provider's name of the session
	flagStrong
	allSessionFlags = flagPending | flagVia | flagStrong
)

// AppendBinary appends the account's record to b.
func (a Account) AppendBinary(b []byte) ([]byte, error) {
	wishes := a.Name != "" || a.Language != "" || a.Mails != 0
	var f uint64
	for i, set := range [...]bool{
		a.Disabled, a.Removing, !a.SignedInAt.IsZero(), a.Unconfirmed, a.Code != (AddressCode{}), a.Admin,
		a.Identities != "", a.Passkeys != "", wishes, a.Policy != "",
	} {
		if set {
			f |= 1 << i
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(append(b, recordVersion), f), uint64(a.ID))
	b = appendBytes(appendBytes(appendTime(b, a.CreatedAt), a.Email), a.PasswordHash)
	b = binary.AppendUvarint(appendBytes(b, a.TOTP), uint64(a.TOTPStep))
	b = appendBytes(b, a.Recovery)
	if !a.SignedInAt.IsZero() {
		b = appendTime(b, a.SignedInAt)
	}
	if a.Code != (AddressCode{}) {
		b = a.Code.append(b)
	}
	if a.Identities != "" {
		b = appendBytes(b, a.Identities)
	}
	if a.Passkeys != "" {
		b = appendBytes(b, a.Passkeys)
	}
	if wishes {
		b = append(appendBytes(appendBytes(b, a.Name), a.Language), byte(a.Mails))
	}
	if a.Policy != "" {
		b = appendBytes(b, a.Policy)
	}
	return b, nil
}

// UnmarshalBinary reads a record.
func (a *Account) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.version()
	f := r.uvarint(allAccountFlags)
	c := Account{
		Disabled:     f&flagDisabled != 0,
		Removing:     f&flagRemoving != 0,
		Unconfirmed:  f&flagUnconfirmed != 0,
		Admin:        f&flagAdmin != 0,
		ID:           AccountID(r.uvarint(1<<64 - 1)),
		CreatedAt:    r.time(),
		Email:        string(r.bytes()),
		PasswordHash: string(r.bytes()),
		TOTP:         string(r.bytes()),
		TOTPStep:     int64(r.uvarint(1<<63 - 1)),
		Recovery:     string(r.bytes()),
	}
	if f&flagSignedIn != 0 {
		c.SignedInAt = r.time()
		r.bad = r.bad || c.SignedInAt.IsZero()
	}
	if f&flagCode != 0 {
		c.Code = r.addressCode()
		r.bad = r.bad || !c.Unconfirmed
	}
	if f&flagIdentities != 0 {
		c.Identities = Identities(r.bytes())
		r.bad = r.bad || c.Identities == "" || !c.Identities.wellFormed()
	}
	if f&flagPasskeys != 0 {
		c.Passkeys = string(r.bytes())
		keys, err := c.passkeys()
		r.bad = r.bad || err != nil || len(keys) == 0
	}
	if f&flagWishes != 0 {
		c.Name, c.Language, c.Mails = string(r.bytes()), string(r.bytes()), EventSet(r.byte())
		r.bad = r.bad || c.Name == "" && c.Language == "" && c.Mails == 0
	}
	if f&flagPolicy != 0 {
		c.Policy = string(r.bytes())
		r.bad = r.bad || c.Policy == ""
	}
	if err := r.end(); err != nil || len(c.Recovery)%recoverySize != 0 {
		return errRecord
	}
	*a = c
	return nil
}

// AppendBinary appends the API token's record to b.
func (t APIToken) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, tokenVersion, byte(t.Scopes)), t.Digest[:]...)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(t.ID)), uint64(t.Owner))
	for _, at := range [...]time.Time{t.CreatedAt, t.ExpiresAt, t.LastUsedAt} {
		b = appendTime(b, at)
	}
	return appendBytes(b, t.Label), nil
}

// UnmarshalBinary reads a record.
func (t *APIToken) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.versionIs(tokenVersion)
	return t.read(r, Scopes(r.flags(byte(knownScopes))))
}

// read reads what follows the scopes.
func (t *APIToken) read(r reader, scopes Scopes) error {
	u := APIToken{Scopes: scopes, Digest: TokenDigest(r.take(32)), ID: TokenID(r.uvarint(1<<64 - 1)), Owner: AccountID(r.uvarint(1<<64 - 1))}
	for _, at := range [...]*time.Time{&u.CreatedAt, &u.ExpiresAt, &u.LastUsedAt} {
		*at = r.time()
	}
	u.Label = string(r.bytes())
	if err := r.end(); err != nil {
		return err
	}
	*t = u
	return nil
}

// AppendBinary appends the session's record to b. The digest is not part of it:
// it is the key.
func (s Session) AppendBinary(b []byte) ([]byte, error) {
	var f byte
	if s.Pending {
		f |= flagPending
	}
	if s.Via != (Identity{}) {
		f |= flagVia
	}
	if s.Strong {
		f |= flagStrong
	}
	b = binary.AppendUvarint(append(b, recordVersion, f), uint64(s.ID))
	b = binary.AppendUvarint(b, uint64(s.Owner))
	for _, at := range [...]time.Time{s.CreatedAt, s.LastUsedAt, s.ExpiresAt} {
		b = appendTime(b, at)
	}
	b = appendBytes(b, s.Sealed)
	if s.Via != (Identity{}) {
		b = appendBytes(s.Via.append(b), s.ViaName)
	}
	return b, nil
}

// UnmarshalBinary reads a record and leaves the digest as it is. The session
// shares no memory with b.
func (s *Session) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.version()
	f := r.flags(allSessionFlags)
	u := Session{Digest: s.Digest, Pending: f&flagPending != 0, Strong: f&flagStrong != 0}
	u.ID, u.Owner = SessionID(r.uvarint(1<<64-1)), AccountID(r.uvarint(1<<64-1))
	for _, at := range [...]*time.Time{&u.CreatedAt, &u.LastUsedAt, &u.ExpiresAt} {
		*at = r.time()
	}
	u.Sealed = r.bytes()
	if f&flagVia != 0 {
		u.Via = Identity{string(r.bytes()), string(r.bytes())}
		u.ViaName = string(r.bytes())
		r.bad = r.bad || !u.Via.valid()
	}
	if err := r.end(); err != nil {
		return err
	}
	*s = u
	return nil
}
