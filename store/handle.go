package store

import (
	"strings"

	"pushbox/store/record"
)

// A Name is how a caller names a push: by its Token, or by its Handle.
type Name interface{ token() Token }

// A Handle names a push that has ended, for its owner alone. It is the ID in lower-case
// base32, of 36 characters; a url_token has 34. It opens nothing.
type Handle record.ID

// handleLength is the length of a handle in characters.
const handleLength = 36

// String is the handle as it is written.
func (h Handle) String() string { return record.Encoding.EncodeToString(h[:]) }

// token returns no token, which no push has.
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
