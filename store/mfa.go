package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // by RFC 4226; the collisions of SHA-1 do not weaken HMAC
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
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
		a.TOTP, a.TOTPStep, a.TOTPSince = sealed, step, s.time.Read().Now
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
	a.TOTP, a.TOTPStep, a.TOTPSince = "", 0, time.Time{}
	a.DropRecovery()
}

// The second factor is TOTP, RFC 6238, as every authenticator app has it: SHA-1,
// six digits, steps of 30 seconds. Codes of the step before and after count too.
const (
	totpSize   = 20 // bytes of its secret
	totpDigits = 6
	totpPeriod = 30 // seconds
	totpSkew   = 1  // steps
)

const (
	// RecoveryCodes is how many recovery codes an account gets.
	RecoveryCodes = 10
	recoveryBytes = 10 // random ones in a recovery code
	recoveryGroup = 4  // characters between dashes
)

// A proof is what a code may prove, as long as the account keeps the second factor for
// which it was read.
type proof struct {
	totp   string // sealed
	step   int64  // that the code belongs to; 0: none
	digest string // of the code as a recovery code; empty: it does not have that form
}

// readCode returns what a code may prove. ErrCredentials if it proves nothing.
func (s *Store) readCode(a record.Account, typed secret.Text) (proof, error) {
	code := cleanCode(typed)
	p := proof{totp: a.TOTP}
	switch code.Len() {
	case totpDigits:
		if a.TOTP == "" {
			break
		}
		key, err := s.openTOTP(a)
		if err != nil {
			return proof{}, err
		}
		p.step = totpStep(key, code, s.time.Read().Now, a.TOTPStep)
	case record.Encoding.EncodedLen(recoveryBytes):
		p.digest = recoveryDigest(a.ID, code)
	}
	if p.step == 0 && p.digest == "" {
		return proof{}, record.ErrCredentials
	}
	return p, nil
}

// name returns what the code is, for the instance log.
func (p proof) name() string {
	if p.digest != "" {
		return "with a recovery code"
	}
	return "with a second factor"
}

// rule returns a startRule that uses the code up. ErrCredentials if the code was used before, or is
// not a recovery code of the account.
func (p proof) rule(a record.Account) (record.Account, bool, error) {
	if !a.Active() || a.TOTP != p.totp {
		return a, false, record.ErrSession
	}
	if p.step > a.TOTPStep {
		a.TOTPStep = p.step
		return a, false, nil
	}
	for i := 0; i < len(a.Recovery); i += record.RecoverySize {
		if a.Recovery[i:i+record.RecoverySize] == p.digest {
			a.Recovery = a.Recovery[:i] + a.Recovery[i+record.RecoverySize:]
			return a, false, nil
		}
	}
	return a, false, record.ErrCredentials
}

// totpStep returns the step that a code belongs to, within the skew of t and after the last
// used one; 0 if there is none.
func totpStep(key []byte, code secret.Text, t time.Time, used int64) int64 {
	now := t.Unix() / totpPeriod
	for step := max(now-totpSkew, used+1); step <= now+totpSkew; step++ {
		if subtle.ConstantTimeCompare([]byte(totpCode(key, step)), []byte(code.Reveal())) == 1 {
			return step
		}
	}
	return 0
}

// totpCode returns the code of a step: HOTP, RFC 4226 section 5.3.
func totpCode(key []byte, step int64) string {
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step))) // a hash never fails
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&(1<<31-1)%1_000_000)
}

var totpEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// newTOTP returns a random secret.
func newTOTP() secret.Text {
	b := make([]byte, totpSize)
	_, _ = rand.Read(b)
	return secret.New(totpEncoding.EncodeToString(b))
}

// totpURL returns the address that authenticator apps read. Not all of them take + for
// a space.
func totpURL(issuer, email string, key secret.Text) secret.Text {
	escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	issuer = escape(strings.ReplaceAll(issuer, ":", " ")) // the first colon ends the issuer
	return secret.New(fmt.Sprintf("otpauth://totp/%s:%s?secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d",
		issuer, escape(email), key.Reveal(), issuer, totpDigits, totpPeriod))
}

// parseTOTP reads a secret in the form of NewTOTP.
func parseTOTP(text secret.Text) ([]byte, error) {
	key, err := totpEncoding.DecodeString(text.Reveal())
	if err != nil || len(key) != totpSize {
		return nil, invalidField("secret", "was not offered by this server")
	}
	return key, nil
}

func (s *Store) sealTOTP(id record.AccountID, key []byte) string {
	return string(s.ring.Load().SealAccount(binary.BigEndian.AppendUint64(nil, uint64(id)), key))
}

func (s *Store) openTOTP(a record.Account) ([]byte, error) {
	key, err := s.ring.Load().OpenAccount(binary.BigEndian.AppendUint64(nil, uint64(a.ID)), []byte(a.TOTP))
	if err != nil {
		return nil, fmt.Errorf("%w: the second factor of account %d cannot be decrypted", record.ErrCorrupt, a.ID)
	}
	return key, nil
}

// newRecovery makes recovery codes, in the form that users see, and their digests.
func newRecovery(id record.AccountID) (codes []secret.Text, digests string) {
	for range RecoveryCodes {
		code := randomText(recoveryBytes)
		digests += recoveryDigest(id, secret.New(code))
		shown := code[:recoveryGroup]
		for i := recoveryGroup; i < len(code); i += recoveryGroup {
			shown += "-" + code[i:i+recoveryGroup]
		}
		codes = append(codes, secret.New(shown))
	}
	return codes, digests
}

// recoveryDigest returns the stored digest of a recovery code. A code has too many bits to be
// guessed from it.
func recoveryDigest(id record.AccountID, code secret.Text) string {
	sum := seal.Digest(secret.New(fmt.Sprintf("recovery code of account %d: %s", id, code.Reveal())))
	return string(sum[:record.RecoverySize])
}

// cleanCode removes the separators that users type in a code.
func cleanCode(code secret.Text) secret.Text {
	return secret.New(strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code.Reveal())))
}
