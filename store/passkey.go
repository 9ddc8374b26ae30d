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
	"pushbox/store/record"
)

// ParsePasskeyID reads the text of an ID. For any other text it returns the zero ID, which no
// passkey has.
func ParsePasskeyID(text string) (id record.PasskeyID) {
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
		copy(id[:], b)
	}
	return id
}

// A PasskeyInfo is what the user of an account sees of a passkey.
type PasskeyInfo struct {
	ID        record.PasskeyID
	Name      string // that its user gave
	CreatedAt time.Time
	UsedAt    time.Time // zero: never
}

// passkeyID returns the ID of the passkey with that WebAuthn credential ID.
func passkeyID(credential []byte) record.PasskeyID {
	sum := sha256.Sum256(credential)
	return record.PasskeyID(sum[:16])
}

// findPasskey returns the passkeys of an account, and the place of one of them; -1 if the
// account does not have it.
func findPasskey(a record.Account, id record.PasskeyID) (all []record.Passkey, at int, err error) {
	all, err = a.PasskeyList()
	for i, p := range all {
		if p.ID == id {
			return all, i, err
		}
	}
	return all, -1, err
}

// passkeyPlace is the place that a passkey's details are sealed for.
func passkeyPlace(p record.Passkey, owner record.AccountID) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(owner)), p.ID[:]...)
}

// passkeyDetails are the sealed part of a passkey.
type passkeyDetails struct {
	name string
	ref  passkey.Ref
}

func (s *Store) sealPasskey(owner record.AccountID, p record.Passkey, d passkeyDetails) []byte {
	b := record.AppendBytes(record.AppendBytes(nil, d.name), d.ref.ID)
	for _, t := range d.ref.Transports {
		b = record.AppendBytes(b, t)
	}
	return s.ring.Load().SealAccount(passkeyPlace(p, owner), b)
}

func (s *Store) openPasskey(owner record.AccountID, p record.Passkey) (d passkeyDetails, err error) {
	plain, err := s.ring.Load().OpenAccount(passkeyPlace(p, owner), p.Sealed)
	r := record.Reader{Rest: plain}
	d.name, d.ref.ID = string(r.Bytes()), r.Bytes()
	for !r.Bad && len(r.Rest) > 0 {
		d.ref.Transports = append(d.ref.Transports, string(r.Bytes()))
	}
	if err != nil || r.End() != nil {
		return passkeyDetails{}, fmt.Errorf("%w: a passkey of account %d cannot be decrypted", record.ErrCorrupt, owner)
	}
	return d, nil
}

// A PasskeyRequest asks a browser for a passkey.
type PasskeyRequest struct {
	Challenge string // comes back in the PasskeyAnswer
	Options   string // arguments of the browser's function, as JSON
}

// A PasskeyAnswer is what a browser answers to a PasskeyRequest.
type PasskeyAnswer struct {
	Site      passkey.Site
	Challenge string
	Text      secret.Text // the credential, as JSON
}

// passkeyLasts is how long a challenge is valid.
const passkeyLasts = 5 * time.Minute

const challengeTime = 8 // bytes of a challenge: the time, in milliseconds

// challenge returns the challenge for a purpose and a holder, which is the digest of a secret of
// the browser, at a time. The store need not keep it: the holder's secret and the MAC prove that
// pushbox made it, and a passkey accepts only challenges that are newer than its last use.
func (s *Store) challenge(purpose string, holder record.SessionDigest, ms int64) []byte {
	sum := s.ring.Load().MAC(fmt.Sprintf("passkey %s %x %d", purpose, holder, ms)) // no url_token has a space
	return append(binary.BigEndian.AppendUint64(nil, uint64(ms)), sum[:]...)
}

// readChallenge returns a challenge that the store made, and when that was. ErrCredentials if
// it did not; ErrSession if that was too long ago.
func (s *Store) readChallenge(text, purpose string, holder record.SessionDigest) (challenge []byte, at time.Time, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) < challengeTime {
		return nil, at, record.ErrCredentials
	}
	ms := int64(binary.BigEndian.Uint64(b))
	if subtle.ConstantTimeCompare(b, s.challenge(purpose, holder, ms)) != 1 {
		return nil, at, record.ErrCredentials
	}
	if at = time.UnixMilli(ms); !s.time.Read().Denies.Before(at.Add(passkeyLasts)) {
		return nil, at, record.ErrSession
	}
	return b, at, nil
}

// handle returns the name of an account in passkeys. It says nothing about the user. Two instances
// on one host have different handles, so that a passkey of one does not replace a passkey of the
// other.
func (s *Store) handle(id record.AccountID) []byte {
	sum := s.ring.Load().MAC(fmt.Sprintf("user of passkeys %d", id)) // no url_token has a space
	return append(binary.BigEndian.AppendUint64(nil, uint64(id)), sum[:]...)
}

// The purposes of a challenge. An answer for one purpose is not valid for another.
const (
	toAdd    = "add"
	toProve  = "prove" // a second factor
	toSignIn = "sign in"
)
