package store

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// The second factor is TOTP, RFC 6238, as every authenticator app has it: SHA-1,
// six digits, steps of 30 seconds; codes of the step before and after count, too.
const (
	totpSize   = 20 // bytes of its secret
	totpDigits = 6
	totpPeriod = 30 // seconds
	totpSkew   = 1  // steps
)

const (
	recoveryCodes = 10
	recoveryBytes = 10 // random ones in a recovery code
	recoveryGroup = 4  // characters between two dashes
	recoverySize  = 16 // bytes of its digest
)

// A proof is what a code may be, as long as the second factor is the one it was
// read for.
type proof struct {
	totp   string // sealed
	step   int64  // whose code it is; 0: of none
	digest string // that it has as a recovery code; empty: it has not the form of one
}

// readCode finds what a code proves. ErrCredentials if it can be none.
func (s *Store) readCode(a Account, code string) (proof, error) {
	code = cleanCode(code)
	p := proof{totp: a.TOTP}
	switch len(code) {
	case totpDigits:
		key, err := s.openTOTP(a)
		if err != nil {
			return proof{}, err
		}
		p.step = totpStep(key, code, s.time.read().now, a.TOTPStep)
	case tokenEncoding.EncodedLen(recoveryBytes):
		p.digest = recoveryDigest(a.ID, code)
	}
	if p.step == 0 && p.digest == "" {
		return proof{}, ErrCredentials
	}
	return p, nil
}

// rule uses a code up, as a startRule. ErrCredentials if it was used before, or
// is no recovery code of the account.
func (p proof) rule(a Account) (Account, bool, error) {
	if !a.Active() || a.TOTP != p.totp {
		return a, false, ErrSession
	}
	if p.step > a.TOTPStep {
		a.TOTPStep = p.step
		return a, false, nil
	}
	for i := 0; i < len(a.Recovery); i += recoverySize {
		if a.Recovery[i:i+recoverySize] == p.digest {
			a.Recovery = a.Recovery[:i] + a.Recovery[i+recoverySize:]
			return a, false, nil
		}
	}
	return a, false, ErrCredentials
}

// totpStep finds the step within the skew of t, and after the one that was used,
// whose code it is; 0 if there is none.
func totpStep(key []byte, code string, t time.Time, used int64) int64 {
	now := t.Unix() / totpPeriod
	text := base32.StdEncoding.EncodeToString(key)
	for step := max(now-totpSkew, used+1); step <= now+totpSkew; step++ {
		want, err := hotp.GenerateCode(text, uint64(step))
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step
		}
	}
	return 0
}

var totpEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// newTOTP returns a random secret.
func newTOTP() secret.Text {
	b := make([]byte, totpSize)
	_, _ = rand.Read(b)
	return secret.New(totpEncoding.EncodeToString(b))
}

// totpURL is what authenticator apps read. Not all of them take + for a space,
// and the library at hand lets & through.
func totpURL(issuer, email string, key secret.Text) secret.Text {
	escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	issuer = escape(strings.ReplaceAll(issuer, ":", " ")) // which the first colon ends
	return secret.New(fmt.Sprintf("otpauth://totp/%s:%s?secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d",
		issuer, escape(email), key.Reveal(), issuer, totpDigits, totpPeriod))
}

// parseTOTP reads a secret as NewTOTP makes them.
func parseTOTP(text secret.Text) ([]byte, error) {
	key, err := totpEncoding.DecodeString(text.Reveal())
	if err != nil || len(key) != totpSize {
		return nil, &InvalidError{Fields: map[string][]string{"secret": {"is not one that was offered"}}}
	}
	return key, nil
}

func (s *Store) sealTOTP(id AccountID, key []byte) string {
	return string(s.ring.Load().SealAccount(binary.BigEndian.AppendUint64(nil, uint64(id)), key))
}

func (s *Store) openTOTP(a Account) ([]byte, error) {
	key, err := s.ring.Load().OpenAccount(binary.BigEndian.AppendUint64(nil, uint64(a.ID)), []byte(a.TOTP))
	if err != nil {
		return nil, fmt.Errorf("%w: the second factor of account %d does not open", ErrCorrupt, a.ID)
	}
	return key, nil
}

// newRecovery makes recovery codes, as they are shown, and their digests.
func newRecovery(id AccountID) (codes []secret.Text, digests string) {
	for range recoveryCodes {
		code := randomText(recoveryBytes)
		digests += recoveryDigest(id, code)
		shown := code[:recoveryGroup]
		for i := recoveryGroup; i < len(code); i += recoveryGroup {
			shown += "-" + code[i:i+recoveryGroup]
		}
		codes = append(codes, secret.New(shown))
	}
	return codes, digests
}

// recoveryDigest is what is kept of a recovery code. It has too many bits to be
// guessed from it.
func recoveryDigest(id AccountID, code string) string {
	sum := seal.Digest(secret.New(fmt.Sprintf("recovery code of account %d: %s", id, code)))
	return string(sum[:recoverySize])
}

// cleanCode takes out of a code what people put between its characters.
func cleanCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}
