package record

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
	flagTOTPSince  // the record has TOTPSince

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
		a.Identities != "", a.Passkeys != "", wishes, a.Policy != "", !a.TOTPSince.IsZero(),
	} {
		if set {
			f |= 1 << i
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(append(b, recordVersion), f), uint64(a.ID))
	b = AppendBytes(AppendBytes(AppendTime(b, a.CreatedAt), a.Email), a.PasswordHash)
	b = binary.AppendUvarint(AppendBytes(b, a.TOTP), uint64(a.TOTPStep))
	b = AppendBytes(b, a.Recovery)
	if !a.SignedInAt.IsZero() {
		b = AppendTime(b, a.SignedInAt)
	}
	if a.Code != (AddressCode{}) {
		b = a.Code.append(b)
	}
	if a.Identities != "" {
		b = AppendBytes(b, a.Identities)
	}
	if a.Passkeys != "" {
		b = AppendBytes(b, a.Passkeys)
	}
	if wishes {
		b = append(AppendBytes(AppendBytes(b, a.Name), a.Language), byte(a.Mails))
	}
	if a.Policy != "" {
		b = AppendBytes(b, a.Policy)
	}
	if !a.TOTPSince.IsZero() {
		b = AppendTime(b, a.TOTPSince)
	}
	return b, nil
}

// UnmarshalBinary reads a record.
func (a *Account) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	f := r.Uvarint(allAccountFlags)
	c := Account{
		Disabled:     f&flagDisabled != 0,
		Removing:     f&flagRemoving != 0,
		Unconfirmed:  f&flagUnconfirmed != 0,
		Admin:        f&flagAdmin != 0,
		ID:           AccountID(r.Uvarint(1<<64 - 1)),
		CreatedAt:    r.Time(),
		Email:        string(r.Bytes()),
		PasswordHash: string(r.Bytes()),
		TOTP:         string(r.Bytes()),
		TOTPStep:     int64(r.Uvarint(1<<63 - 1)),
		Recovery:     string(r.Bytes()),
	}
	if f&flagSignedIn != 0 {
		c.SignedInAt = r.Time()
		r.Bad = r.Bad || c.SignedInAt.IsZero()
	}
	if f&flagCode != 0 {
		c.Code = r.addressCode()
		r.Bad = r.Bad || !c.Unconfirmed
	}
	if f&flagIdentities != 0 {
		c.Identities = Identities(r.Bytes())
		r.Bad = r.Bad || c.Identities == "" || !c.Identities.wellFormed()
	}
	if f&flagPasskeys != 0 {
		c.Passkeys = string(r.Bytes())
		keys, err := c.PasskeyList()
		r.Bad = r.Bad || err != nil || len(keys) == 0
	}
	if f&flagWishes != 0 {
		c.Name, c.Language, c.Mails = string(r.Bytes()), string(r.Bytes()), EventSet(r.Byte())
		r.Bad = r.Bad || c.Name == "" && c.Language == "" && c.Mails == 0
	}
	if f&flagPolicy != 0 {
		c.Policy = string(r.Bytes())
		r.Bad = r.Bad || c.Policy == ""
	}
	if f&flagTOTPSince != 0 {
		c.TOTPSince = r.Time()
		r.Bad = r.Bad || c.TOTPSince.IsZero() || c.TOTP == ""
	}
	if err := r.End(); err != nil || len(c.Recovery)%RecoverySize != 0 {
		return ErrRecord
	}
	*a = c
	return nil
}

// AppendBinary appends the API token's record to b.
func (t APIToken) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, tokenVersion, byte(t.Scopes)), t.Digest[:]...)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(t.ID)), uint64(t.Owner))
	for _, at := range [...]time.Time{t.CreatedAt, t.ExpiresAt, t.LastUsedAt} {
		b = AppendTime(b, at)
	}
	return AppendBytes(b, t.Label), nil
}

// UnmarshalBinary reads a record.
func (t *APIToken) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.VersionIs(tokenVersion)
	return t.ReadVersion(r, Scopes(r.Flags(byte(KnownScopes))))
}

// ReadVersion reads what follows the scopes.
func (t *APIToken) ReadVersion(r Reader, scopes Scopes) error {
	u := APIToken{Scopes: scopes, Digest: TokenDigest(r.Take(32)), ID: TokenID(r.Uvarint(1<<64 - 1)), Owner: AccountID(r.Uvarint(1<<64 - 1))}
	for _, at := range [...]*time.Time{&u.CreatedAt, &u.ExpiresAt, &u.LastUsedAt} {
		*at = r.Time()
	}
	u.Label = string(r.Bytes())
	if err := r.End(); err != nil {
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
		b = AppendTime(b, at)
	}
	b = AppendBytes(b, s.Sealed)
	if s.Via != (Identity{}) {
		b = AppendBytes(s.Via.append(b), s.ViaName)
	}
	return b, nil
}

// UnmarshalBinary reads a record and leaves the digest as it is. The session
// shares no memory with b.
func (s *Session) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	f := r.Flags(allSessionFlags)
	u := Session{Digest: s.Digest, Pending: f&flagPending != 0, Strong: f&flagStrong != 0}
	u.ID, u.Owner = SessionID(r.Uvarint(1<<64-1)), AccountID(r.Uvarint(1<<64-1))
	for _, at := range [...]*time.Time{&u.CreatedAt, &u.LastUsedAt, &u.ExpiresAt} {
		*at = r.Time()
	}
	u.Sealed = r.Bytes()
	if f&flagVia != 0 {
		u.Via = Identity{string(r.Bytes()), string(r.Bytes())}
		u.ViaName = string(r.Bytes())
		r.Bad = r.Bad || !u.Via.Valid()
	}
	if err := r.End(); err != nil {
		return err
	}
	*s = u
	return nil
}
