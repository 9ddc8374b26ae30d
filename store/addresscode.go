package store

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
)

const (
	CodeLasts  = 30 * time.Minute // from when it is made
	codeDigits = 8
	codesApart = time.Minute // between two codes of an account
)

// codeIsGood reports whether a code is still good, when at is the time.
func codeIsGood(c record.AddressCode, at clock.Instant) bool {
	return c.Sum != [16]byte{} && at.Denies.Before(c.SentAt.Add(CodeLasts))
}

// codeWait is how long an account waits for its next code.
func codeWait(c record.AddressCode, now time.Time) time.Duration {
	switch {
	case c.SentAt.IsZero():
		return 0
	case c.Sent >= record.CodesPerDay && dayOf(c.SentAt) >= dayOf(now):
		return dayLeft(now)
	default:
		return max(0, c.SentAt.Add(codesApart).Sub(now))
	}
}

// nextCode is what is kept when another code is made.
func nextCode(c record.AddressCode, now time.Time) record.AddressCode {
	n := record.AddressCode{SentAt: now, Sent: 1}
	if !c.SentAt.IsZero() && dayOf(c.SentAt) >= dayOf(now) {
		n.Sent += c.Sent
	}
	return n
}

// newCode returns a random code.
func newCode() secret.Text {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(codeDigits), nil)
	n, _ := rand.Int(rand.Reader, most) // never fails: crypto/rand ends the program instead
	return secret.New(fmt.Sprintf("%0*d", codeDigits, n))
}

// codeSum is the HMAC of a code for the present address of an account.
func (s *Store) codeSum(a record.Account, code secret.Text) [16]byte {
	return s.ring.Load().MAC(fmt.Sprintf("code of account %d at %s: %s", a.ID, a.Email, code.Reveal())) // no url_token has a space
}

// isCode reports whether a code is the one that confirms the address of an account now.
func (s *Store) isCode(a record.Account, code secret.Text, at clock.Instant) bool {
	sum := s.codeSum(a, code)
	return codeIsGood(a.Code, at) && subtle.ConstantTimeCompare(sum[:], a.Code.Sum[:]) == 1
}
