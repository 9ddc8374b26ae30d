package store

import (
	"crypto/rand"
	"encoding/binary"
	"slices"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

// A mark is a text that a browser gets when it proves something: that it may sign in to an
// account, or that it has the passphrase of a push. The browser that sends it later is
// known, and the limits of guessing count it apart from strangers: no stranger locks it
// out. A mark opens nothing. It is a nonce with an HMAC, so it names neither account nor
// push, and the store need not keep it.
const (
	nonceSize = 16
	markSize  = nonceSize + 16
)

// MaxMarks is how many marks of an Actor are looked at.
const MaxMarks = 8

// The subjects of marks begin with what they are.
const (
	markAccount = 'a'
	markPush    = 'p'

	markFactor = '2' // no hash begins with it
)

// accountSubject has the password and whether there is a second factor in it: a client that once
// knew the password, and has marks from then, is a stranger once either changes.
func accountSubject(a record.Account) []byte {
	b := binary.BigEndian.AppendUint64([]byte{markAccount}, uint64(a.ID))
	if a.MFA() {
		b = append(b, markFactor)
	}
	return append(b, a.PasswordHash...)
}

func pushSubject(id record.ID) []byte { return append([]byte{markPush}, id[:]...) }

// newMark returns the mark of the actor for a subject: the one that it has, or a new one.
func (s *Store) newMark(by Actor, subject []byte) secret.Text {
	if m := s.markOf(by, subject); !m.IsZero() {
		return m
	}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return s.markWith(nonce, subject)
}

func (s *Store) markWith(nonce, subject []byte) secret.Text {
	sum := s.ring.Load().Mark(subject, nonce)
	return secret.New(record.Encoding.EncodeToString(slices.Concat(nonce, sum[:])))
}

// nonceOf is what a mark keeps when its subject changes: tries count for it.
func nonceOf(mark secret.Text) []byte {
	b, _ := record.Encoding.DecodeString(mark.Reveal()) // markOf has read it
	return b[:min(nonceSize, len(b))]
}

// markOf returns the mark that the actor sent for a subject; zero if there is none.
func (s *Store) markOf(by Actor, subject []byte) secret.Text {
	for _, m := range by.Marks[:min(len(by.Marks), MaxMarks)] {
		b, err := record.Encoding.DecodeString(m.Reveal())
		if err == nil && len(b) == markSize && s.ring.Load().IsMark(subject, b[:nonceSize], b[nonceSize:]) {
			return m
		}
	}
	return secret.Text{}
}

// AddMark returns marks with one more, which comes first, and without the oldest if there
// are too many.
func AddMark(marks []secret.Text, m secret.Text) []secret.Text {
	others := slices.DeleteFunc(slices.Clone(marks), func(o secret.Text) bool { return o.Reveal() == m.Reveal() })
	all := append([]secret.Text{m}, others...)
	return all[:min(len(all), MaxMarks)]
}
