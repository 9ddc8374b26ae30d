package store

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
)

// Limits of the codes that are mailed to an address to confirm it.
const (
	CodeLasts   = 30 * time.Minute // from when it is made
	CodeTries   = 5                // wrong ones, after which it is used up
	codeDigits  = 8
	codesApart  = time.Minute // between two codes of an account
	codesPerDay = 5           // of an account, in UTC
)

// An AddressCode is what an account keeps of the codes that were mailed to its address.
// Zero: none was.
type AddressCode struct {
	Sum    [16]byte  // HMAC of the last code; zero: it is used up
	SentAt time.Time // when it was made
	Wrong  int       // codes that were entered in vain since
	Sent   int       // codes on the day of SentAt, with that one
}

// append appends the record to b.
func (c AddressCode) append(b []byte) []byte {
	b = appendTime(append(b, c.Sum[:]...), c.SentAt)
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.Wrong)), uint64(c.Sent))
}

// addressCode reads what append wrote.
func (r *reader) addressCode() AddressCode {
	c := AddressCode{Sum: [16]byte(r.take(16)), SentAt: r.time(), Wrong: int(r.uvarint(CodeTries)), Sent: int(r.uvarint(codesPerDay))}
	if c.SentAt.IsZero() || c.Sent == 0 {
		r.bad = true
	}
	return c
}

// good reports whether a code is still good, when at is the time.
func (c AddressCode) good(at clock.Instant) bool {
	return c.Sum != [16]byte{} && at.Denies.Before(c.SentAt.Add(CodeLasts))
}

// wait is how long an account waits for its next code.
func (c AddressCode) wait(now time.Time) time.Duration {
	switch {
	case c.SentAt.IsZero():
		return 0
	case c.Sent >= codesPerDay && dayOf(c.SentAt) >= dayOf(now):
		return dayLeft(now)
	default:
		return max(0, c.SentAt.Add(codesApart).Sub(now))
	}
}

// next is what is kept when another code is made.
func (c AddressCode) next(now time.Time) AddressCode {
	n := AddressCode{SentAt: now, Sent: 1}
	if !c.SentAt.IsZero() && dayOf(c.SentAt) >= dayOf(now) {
		n.Sent += c.Sent
	}
	return n
}

// confirm makes the address of the account a confirmed one.
func (a *Account) confirm() { a.Unconfirmed, a.Code = false, AddressCode{} }

// newCode returns a random code.
func newCode() secret.Text {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(codeDigits), nil)
	n, _ := rand.Int(rand.Reader, most) // never fails: crypto/rand ends the program instead
	return secret.New(fmt.Sprintf("%0*d", codeDigits, n))
}

// codeSum is the HMAC of a code for the present address of an account.
func (s *Store) codeSum(a Account, code secret.Text) [16]byte {
	return s.ring.Load().MAC(fmt.Sprintf("code of account %d at %s: %s", a.ID, a.Email, code.Reveal())) // no url_token has a space
}

// isCode reports whether a code is the one that confirms the address of an account now.
func (s *Store) isCode(a Account, code secret.Text, at clock.Instant) bool {
	sum := s.codeSum(a, code)
	return a.Code.good(at) && subtle.ConstantTimeCompare(sum[:], a.Code.Sum[:]) == 1
}
