package store

import (
	"context"
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

// A TOTPSetup is a second factor that is offered and not yet in use.
type TOTPSetup struct {
	Secret secret.Text // base32, for typing
	URL    secret.Text // otpauth://totp/…, for a QR code
}

// NewTOTP offers a second factor to the account of a session. Nothing is kept: the
// secret comes back in EnableTOTP. ErrSession.
func (s *Store) NewTOTP(ctx context.Context, session secret.Text) (TOTPSetup, error) {
	c, err := s.signedIn(ctx, Actor{}, session)
	if err != nil {
		return TOTPSetup{}, err
	}
	key := newTOTP()
	return TOTPSetup{Secret: key, URL: totpURL(issuer(s.options().Issuer), c.account.Email, key)}, nil
}

// EnableTOTP gives the account of a session an authenticator app as second factor. code must be a
// valid code of it. If the account has another factor, the caller must also give that, beside the
// password. If it has none, recovery codes come with the app, which cannot be shown again. All
// sessions of the account then end, also the caller's, since a password alone opened them, and a
// new one begins. Else n and recovery are zero.
//
// Errors: as those of ChangePassword, ErrCredentials also for a wrong code or factor;
// *InvalidError if totpSecret is not in the form of NewTOTP; ErrExists if the account
// has an authenticator app.
func (s *Store) EnableTOTP(ctx context.Context, by Actor, session, password secret.Text, f Factor, totpSecret, code secret.Text) (n NewSession, recovery []secret.Text, err error) {
	n, err = sealing(ctx, s, func(ctx context.Context) (n NewSession, err error) {
		n, recovery, err = s.enableTOTP(ctx, by, session, password, f, totpSecret, code)
		return n, err
	})
	return n, recovery, err
}

func (s *Store) enableTOTP(ctx context.Context, by Actor, session, password secret.Text, f Factor, totpSecret, code secret.Text) (n NewSession, recovery []secret.Text, err error) {
	key, badKey := parseTOTP(totpSecret)
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return NewSession{}, nil, err
	}
	sealed, step := s.sealTOTP(c.account.ID, key), totpStep(key, cleanCode(code), s.time.Read().Now, 0)
	n, recovery, err = s.addFactor(ctx, c, record.AdminFactorAdd, "", func(a *record.Account) error {
		err := use(a)
		switch {
		case err != nil:
			return err
		case badKey != nil:
			return badKey
		case a.TOTP != "":
			return record.ErrExists
		case step == 0:
			return record.ErrCredentials
		}
		a.TOTP, a.TOTPStep = sealed, step
		return nil
	})
	if err != nil {
		return NewSession{}, nil, s.refused(ctx, c.by, record.AdminSignInRefused, c.account, s.countWrong(ctx, c.trier(), err))
	}
	return n, recovery, nil
}

// addFactor gives the account of a proven caller a factor beside the password. If it is the first
// one, recovery codes come with it, and a new session takes the place of all others; else n and
// recovery are zero. ErrExists if another factor became the first meanwhile.
func (s *Store) addFactor(ctx context.Context, c caller, k record.AdminKind, detail string, add func(*record.Account) error) (n NewSession, recovery []secret.Text, err error) {
	if c.account.MFA() {
		_, err = s.changeOwn(ctx, c, k, detail, func(a *record.Account) (record.SessionChange, error) {
			if !a.MFA() {
				return record.SessionChange{}, record.ErrSession
			}
			return record.SessionChange{}, add(a)
		})
		return NewSession{}, nil, err
	}
	recovery, digests := newRecovery(c.account.ID)
	n, err = s.renew(ctx, c, k, detail, false, func(a *record.Account) error {
		if a.MFA() {
			return record.ErrExists
		}
		err := add(a)
		a.Recovery = digests
		return err
	})
	if err != nil {
		return NewSession{}, nil, err
	}
	return n, recovery, nil
}

// DisableTOTP removes the authenticator app of the account of a session. The recovery codes go with
// the last factor beside the password. The caller must give a factor beside the password: else
// factors would protect no better than the password. Errors as those of ChangePassword,
// ErrCredentials also for a wrong factor.
func (s *Store) DisableTOTP(ctx context.Context, by Actor, session, password secret.Text, f Factor) error {
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return err
	}
	_, err = s.changeOwn(ctx, c, record.AdminFactorRemove, "", func(a *record.Account) (record.SessionChange, error) {
		err := use(a)
		dropTOTP(a)
		return record.SessionChange{}, err
	})
	return err
}

// NewRecoveryCodes replaces the recovery codes of the account of a session. It needs the same proof
// as DisableTOTP and has the same errors; ErrNotFound if the account has no second factor.
func (s *Store) NewRecoveryCodes(ctx context.Context, by Actor, session, password secret.Text, f Factor) (recovery []secret.Text, err error) {
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return nil, err
	}
	recovery, digests := newRecovery(c.account.ID)
	_, err = s.changeOwn(ctx, c, record.AdminRecoveryCodes, "", func(a *record.Account) (record.SessionChange, error) {
		if !a.MFA() {
			return record.SessionChange{}, record.ErrNotFound
		}
		err := use(a)
		a.Recovery = digests
		return record.SessionChange{}, err
	})
	if err != nil {
		return nil, err
	}
	return recovery, nil
}

// ResetFactors removes the authenticator app, the passkeys and the recovery codes of an
// account, for a person who lost them, and tells the account by mail. Its sessions continue.
// ErrNotFound; ErrDenied for a client; ErrOwnAccount.
func (s *Store) ResetFactors(ctx context.Context, by Actor, email string) error {
	if !by.administers() {
		return record.ErrDenied
	}
	a, err := s.account(ctx, email)
	switch {
	case err != nil:
		return err
	case by.isOwn(a):
		return record.ErrOwnAccount
	case !a.MFA():
		return nil
	}
	return s.telling(ctx, by, a, MailFactorsGone, func(mail *record.MailBatch) error {
		_, err := s.changeAccount(ctx, by, email, record.AdminFactorRemove, record.SessionChange{Mail: mail}, func(a *record.Account) {
			a.Passkeys = ""
			dropTOTP(a)
		})
		return err
	})
}

// maxIssuer is how many characters of a server's name a QR code holds.
const maxIssuer = 64

// issuer returns the name that authenticator apps show for a server.
func issuer(name string) string {
	if name == "" {
		return "pushbox"
	}
	if r := []rune(name); len(r) > maxIssuer {
		return string(r[:maxIssuer])
	}
	return name
}

func dropTOTP(a *record.Account) {
	a.TOTP, a.TOTPStep = "", 0
	a.DropRecovery()
}

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

// The purposes of a challenge. An answer for one purpose is not valid for another.
const (
	toAdd    = "add"
	toProve  = "prove" // a second factor
	toSignIn = "sign in"
)

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
