// Package email recognizes e-mail addresses.
package email

import (
	"net/mail"
	"strings"
	"unicode"
)

// MaxLength is how long an address may be, in bytes (RFC 5321 section 4.5.3.1.3, less the angle brackets).
const MaxLength = 254

// IsAddress reports whether a text is an address and nothing else: no display name.
func IsAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Name == "" && a.Address == text && len(text) <= MaxLength && !strings.ContainsFunc(text, unicode.IsControl)
}

// IsSendable reports whether mail can be sent to an address: it is as in RFC 5321, in
// ASCII, with nothing in quotes and nothing that could break a header.
func IsSendable(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r) }
	return !strings.ContainsFunc(text, odd) && IsAddress(text)
}
