// Package secret has a type for text that must not be shown by accident: payloads,
// passphrases, url_tokens, API tokens, names and notes.
package secret

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Text is a piece of secret text. Printing, logging or encoding it writes "[redacted]";
// only Reveal returns the text. The zero value is empty.
//
// The text is behind a pointer, because fmt prints an unexported field of another
// struct without asking the field's type: it then prints an address.
type Text struct{ p *string }

// New returns s as a secret. It allocates nothing if s is empty.
func New(s string) Text {
	if s == "" {
		return Text{}
	}
	kept := s // else s itself would move to the heap in any case
	return Text{&kept}
}

// Reveal returns the text itself. Every call is a place where a secret leaves its
// wrapper, so each should be easy to justify.
func (t Text) Reveal() string {
	if t.p == nil {
		return ""
	}
	return *t.p
}

// Len is the length of the text in bytes.
func (t Text) Len() int { return len(t.Reveal()) }

// IsZero reports whether there is no text.
func (t Text) IsZero() bool { return t.Len() == 0 }

// Format writes "[redacted]" for every verb, so that not even %d or %#v shows
// the text.
func (Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String returns "[redacted]".
func (Text) String() string { return redacted }

// MarshalText returns "[redacted]", for encoders that do not know about secrets.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }
