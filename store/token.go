package store

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"pushbox/internal/secret"
)

// TokenLength is the length of a url_token in characters.
const TokenLength = 34

const (
	tokenAlphabet = "abcdefghijklmnopqrstuvwxyz234567" // RFC 4648 section 6, in lower case
	timeBits      = 45                                 // milliseconds since 1970: enough until the year 3084
	timeChars     = timeBits / 5
)

var tokenEncoding = base32.NewEncoding(tokenAlphabet).WithPadding(base32.NoPadding)

// A Token is a url_token: the part of a link that names a push and opens it.
// It holds 45 bits of creation time in milliseconds and 125 random bits, and
// is never stored in clear. It prints as "[redacted]".
type Token struct{ secret.Text }

// NewToken returns a fresh token for a push created at t.
func NewToken(t time.Time) Token {
	ms := uint64(t.UnixMilli())
	var b [TokenLength]byte
	for i := range timeChars {
		b[i] = tokenAlphabet[ms>>(timeBits-5*(i+1))&31]
	}
	random := b[timeChars:]
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	for i := range random {
		random[i] = tokenAlphabet[random[i]&31]
	}
	return Token{secret.New(string(b[:]))}
}

// ParseToken reads a url_token without regard to case. It returns ErrNotFound
// for everything that cannot be one, so that a malformed token and an unknown
// one look the same.
func ParseToken(s string) (Token, error) {
	s = strings.ToLower(s)
	if len(s) != TokenLength {
		return Token{}, ErrNotFound
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return Token{}, ErrNotFound
		}
	}
	return Token{secret.New(s)}, nil
}

// milliseconds is the creation time in the token, since 1970.
func (t Token) milliseconds() uint64 {
	var ms uint64
	for _, c := range []byte(t.Reveal()[:timeChars]) {
		ms = ms<<5 | uint64(strings.IndexByte(tokenAlphabet, c))
	}
	return ms
}

// An ID is what a push is keyed by in the database: 6 bytes of creation time
// in milliseconds, then 16 bytes of HMAC-SHA256(id key, token). It finds a
// push and cannot open it. IDs of later pushes are greater.
type ID [22]byte

func newID(t Token, mac [16]byte) (id ID) {
	binary.BigEndian.PutUint64(id[:8], t.milliseconds()<<16)
	copy(id[6:], mac[:])
	return id
}

// String is the ID in hexadecimal, for reports of check.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
