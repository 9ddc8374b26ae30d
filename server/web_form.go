package server

import (
	"errors"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// webFields are the fields of a form that a page sent, each given once.
type webFields map[string]string

// readFields reads a small form, one without files. errTooLarge if it has more
// than 64 KiB.
func (s *Server) readFields(r *request) (webFields, error) {
	media, params, err := bodyType(r)
	if err != nil {
		return nil, err
	}
	b := &r.Body
	if b.limit = smallBody; r.ContentLength > b.limit {
		return nil, errTooLarge
	}
	var pairs []pair
	switch media {
	case typeForm:
		pairs, err = readPairs(b)
	case typeMultipart:
		pairs, err = multipartPairs(b, params["boundary"])
	default:
		return nil, errMediaType
	}
	if err == nil {
		err = b.end()
	}
	if err != nil {
		b.leave()
		return nil, err
	}
	f := make(webFields, len(pairs))
	for _, p := range pairs {
		if _, twice := f[p.name]; twice {
			return nil, errTwice
		}
		f[p.name] = p.text
	}
	return f, nil
}

// comesBack is what a form shows again of a text that may have so many bytes. One
// that has more is not sent back: its problem says that it is too long.
func comesBack(text string, most int) string {
	if len(text) > most {
		return ""
	}
	return text
}

// maxNumber is the most bytes that come back of what was typed for a number.
const maxNumber = 64

// secret returns a field that is a password, a passphrase or a code.
func (f webFields) secret(name string) secret.Text { return secret.New(f[name]) }

// yes reports whether a box was ticked.
func (f webFields) yes(name string) bool { return f[name] != "" }

// oneBreak undoes what browsers do to the lines of a text in a form: they end
// with CR LF there (HTML Standard, constructing the entry list), whatever was
// typed.
func oneBreak(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// wrongFields returns the names of the fields that a store found wrong, and
// whether err says no more than that.
func wrongFields(err error) (map[string]bool, bool) {
	var invalid *store.InvalidError
	if !errors.As(err, &invalid) {
		return nil, false
	}
	wrong := make(map[string]bool, len(invalid.Fields))
	for name := range invalid.Fields {
		wrong[name] = true
	}
	return wrong, true
}
