package store

import (
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
