package store

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
)

// MaxPasskeys is how many passkeys an account may have.
const MaxPasskeys = 10

// A PasskeyID names a passkey among those of its account; it is not a secret.
type PasskeyID [16]byte

// String returns the ID in hexadecimal.
func (id PasskeyID) String() string { return hex.EncodeToString(id[:]) }

// ParsePasskeyID reads the text of an ID; the zero ID, which no passkey has, for any other text.
func ParsePasskeyID(text string) (id PasskeyID) {
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
		copy(id[:], b)
	}
	return id
}

// A PasskeyInfo is what the user of an account sees of a passkey.
type PasskeyInfo struct {
	ID        PasskeyID
	Name      string // that its user gave
	CreatedAt time.Time
	UsedAt    time.Time // zero: never
}

// passkeyID returns the ID of the passkey with that WebAuthn credential ID.
func passkeyID(credential []byte) PasskeyID {
	sum := sha256.Sum256(credential)
	return PasskeyID(sum[:16])
}

// A passkeyRecord is a passkey as an account keeps it. The key is public. The name and what
// a browser needs to find the passkey are sealed: they tell of its user's devices.
type passkeyRecord struct {
	id            PasskeyID
	key           []byte // public, in COSE form
	count         uint32 // that the device told at the last use; 0: it does not count
	created, used time.Time
	sealed        []byte // passkeyDetails
}

// passkeys reads the passkeys of an account. Their times are those of the record, in whole
// milliseconds.
func (a Account) passkeys() (all []passkeyRecord, err error) {
	for r := (reader{b: []byte(a.Passkeys)}); len(r.b) > 0; {
		p := passkeyRecord{id: PasskeyID(r.take(16)), key: r.bytes(), count: uint32(r.uvarint(1<<32 - 1)), created: r.time(), used: r.time(), sealed: r.bytes()}
		if all = append(all, p); r.bad || len(all) > MaxPasskeys {
			return nil, errRecord
		}
	}
	return all, nil
}

// setPasskeys gives the account these passkeys in place of all that it has.
func (a *Account) setPasskeys(all []passkeyRecord) {
	var b []byte
	for _, p := range all {
		b = binary.AppendUvarint(appendBytes(append(b, p.id[:]...), p.key), uint64(p.count))
		b = appendBytes(appendTime(appendTime(b, p.created), p.used), p.sealed)
	}
	a.Passkeys = string(b)
	a.dropRecovery()
}

// findPasskey returns the passkeys of an account, and the place of one of them; -1 if the
// account does not have it.
func (a Account) findPasskey(id PasskeyID) (all []passkeyRecord, at int, err error) {
	all, err = a.passkeys()
	for i, p := range all {
		if p.id == id {
			return all, i, err
		}
	}
	return all, -1, err
}

// place is what a passkey's details are bound to.
func (p passkeyRecord) place(owner AccountID) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(owner)), p.id[:]...)
}

// passkeyDetails are what is sealed of a passkey.
type passkeyDetails struct {
	name string
	ref  passkey.Ref
}

func (s *Store) sealPasskey(owner AccountID, p passkeyRecord, d passkeyDetails) []byte {
	b := appendBytes(appendBytes(nil, d.name), d.ref.ID)
	for _, t := range d.ref.Transports {
		b = appendBytes(b, t)
	}
	return s.ring.Load().SealAccount(p.place(owner), b)
}

func (s *Store) openPasskey(owner AccountID, p passkeyRecord) (d passkeyDetails, err error) {
	plain, err := s.ring.Load().OpenAccount(p.place(owner), p.sealed)
	r := reader{b: plain}
	d.name, d.ref.ID = string(r.bytes()), r.bytes()
	for !r.bad && len(r.b) > 0 {
		d.ref.Transports = append(d.ref.Transports, string(r.bytes()))
	}
	if err != nil || r.end() != nil {
		return passkeyDetails{}, fmt.Errorf("%w: a passkey of account %d does not open", ErrCorrupt, owner)
	}
	return d, nil
}

// A PasskeyRequest is what a browser is asked for.
type PasskeyRequest struct {
	Challenge string // comes back in the PasskeyAnswer
	Options   string // of the browser's function, as JSON
}

// A PasskeyAnswer is what a browser answers to a PasskeyRequest.
type PasskeyAnswer struct {
	Site      passkey.Site
	Challenge string
	Text      secret.Text // the credential, as JSON
}

// passkeyLasts is how long an answer to a challenge may take.
const passkeyLasts = 5 * time.Minute

// What a challenge is for. An answer to one is none to another.
const (
	toAdd    = "add"
	toProve  = "prove" // a second factor
	toSignIn = "sign in"
)

const challengeTime = 8 // bytes of a challenge: the time, in milliseconds

// challenge returns the challenge for a purpose and a holder, who is the digest of a secret of
// the browser, at a time. The store need not keep it: the holder's secret and the MAC say
// that it is pushbox's, and a passkey takes only challenges from after its last use.
func (s *Store) challenge(purpose string, holder SessionDigest, ms int64) []byte {
	sum := s.ring.Load().MAC(fmt.Sprintf("passkey %s %x %d", purpose, holder, ms)) // no url_token has a space
	return append(binary.BigEndian.AppendUint64(nil, uint64(ms)), sum[:]...)
}

// readChallenge returns a challenge that the store made, and when that was. ErrCredentials if
// it did not; ErrSession if that was too long ago.
func (s *Store) readChallenge(text, purpose string, holder SessionDigest) (challenge []byte, at time.Time, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) < challengeTime {
		return nil, at, ErrCredentials
	}
	ms := int64(binary.BigEndian.Uint64(b))
	if subtle.ConstantTimeCompare(b, s.challenge(purpose, holder, ms)) != 1 {
		return nil, at, ErrCredentials
	}
	if at = time.UnixMilli(ms); !s.time.Read().Denies.Before(at.Add(passkeyLasts)) {
		return nil, at, ErrSession
	}
	return b, at, nil
}

// handle returns what passkeys keep of an account: enough to find it, and nothing of its user.
// Those of two instances on one host differ, so that no passkey replaces another's.
func (s *Store) handle(id AccountID) []byte {
	sum := s.ring.Load().MAC(fmt.Sprintf("user of passkeys %d", id)) // no url_token has a space
	return append(binary.BigEndian.AppendUint64(nil, uint64(id)), sum[:]...)
}
