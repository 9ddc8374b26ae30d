package store

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

// tokenLength is the length of a url_token in characters.
const tokenLength = 34

const (
	importedAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_" // RFC 4648 section 5, as Password Pusher writes it
	timeBits         = 45                                       // milliseconds since 1970: enough until the year 3084
	timeChars        = timeBits / 5
)

// The lengths in characters of url_tokens that other servers made.
const (
	minImported = 8
	maxImported = tokenLength - 1
)

// A Token is a url_token: the part of a link that names a push and opens it. It holds
// 45 bits of creation time in milliseconds (see nextToken) and 125 random bits, is never
// stored in clear, and prints as "[redacted]".
//
// The url_token of an imported push is shorter and has a different alphabet, so the two cannot be
// confused. NewToken never makes such a token.
type Token struct{ secret.Text }

// NewToken returns a token for a push created at t.
func NewToken(t time.Time) Token {
	ms := uint64(t.UnixMilli())
	var b [tokenLength]byte
	for i := range timeChars {
		b[i] = record.Alphabet[ms>>(timeBits-5*(i+1))&31]
	}
	random := b[timeChars:]
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	for i := range random {
		random[i] = record.Alphabet[random[i]&31]
	}
	return Token{secret.New(string(b[:]))}
}

// mostAhead is how many milliseconds the time in a url_token may be later than its creation.
const mostAhead = 250

// nextToken returns a token for a push that is created at t. Lists are sorted by the times in
// tokens. To sort them by creation, each token gets its own millisecond, later than the token
// before. Only if more than a thousand pushes a second are created for some time, several share
// one.
func (s *Store) nextToken(t time.Time) Token {
	now := t.UnixMilli()
	for {
		last, next := s.lastToken.Load(), now
		if last >= now && last <= now+mostAhead { // else a clock in doubt was set back
			next = min(last+1, now+mostAhead)
		}
		if s.lastToken.CompareAndSwap(last, next) {
			return NewToken(time.UnixMilli(next))
		}
	}
}

// ParseToken reads a url_token in upper or lower case. For any other text it returns
// ErrNotFound, so that malformed and unknown tokens look the same.
func ParseToken(s string) (Token, error) {
	length := len(s)
	s = strings.ToLower(s)
	alphabet := record.Alphabet
	switch {
	case len(s) != length: // a character beyond ASCII became one of it
		return Token{}, record.ErrNotFound
	case len(s) >= minImported && len(s) <= maxImported:
		alphabet = importedAlphabet
	case len(s) != tokenLength:
		return Token{}, record.ErrNotFound
	}
	for _, c := range []byte(s) {
		if strings.IndexByte(alphabet, c) < 0 {
			return Token{}, record.ErrNotFound
		}
	}
	return Token{secret.New(s)}, nil
}

// milliseconds is the creation time in the token, since 1970; 0 for an imported push, whose token
// does not contain it.
func (t Token) milliseconds() uint64 {
	if t.Len() != tokenLength {
		return 0
	}
	var ms uint64
	for _, c := range []byte(t.Reveal()[:timeChars]) {
		ms = ms<<5 | uint64(strings.IndexByte(record.Alphabet, c))
	}
	return ms
}

func newID(t Token, mac [16]byte) (id record.ID) {
	binary.BigEndian.PutUint64(id[:8], t.milliseconds()<<16)
	copy(id[6:], mac[:])
	return id
}

// createdAt is when the url_token was made.
func createdAt(id record.ID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16))
}

// A Name names a push in a request: by its Token, or by its Handle.
type Name interface{ token() Token }

// A Handle names a push that has ended, for its owner alone. It is the ID in lower-case
// base32, of 36 characters; a url_token has 34. It opens nothing.
type Handle record.ID

// handleLength is the length of a handle in characters.
const handleLength = 36

// String is the handle as it is written.
func (h Handle) String() string { return record.Encoding.EncodeToString(h[:]) }

// token returns the zero Token, which matches no push.
func (h Handle) token() Token { return Token{} }

func (t Token) token() Token { return t }

// ParseName reads a url_token or a handle in upper or lower case. For any other text it
// returns ErrNotFound, so that malformed and unknown ones look the same.
func ParseName(s string) (Name, error) {
	if len(s) != handleLength {
		return ParseToken(s)
	}
	var h Handle
	s = strings.ToLower(s)
	n, err := record.Encoding.Decode(h[:], []byte(s))
	if err != nil || n != len(h) || h.String() != s { // the last character has bits to spare
		return Token{}, record.ErrNotFound
	}
	return h, nil
}

// Handle names the push once it has ended.
func (p PushInfo) Handle() Handle { return Handle(p.ID) }

// URLToken is what answers name the push by: its url_token, or the handle of a push
// that has ended and was not found by its url_token.
func (p PushInfo) URLToken() string {
	if p.Token.IsZero() {
		return p.Handle().String()
	}
	return p.Token.Reveal()
}
