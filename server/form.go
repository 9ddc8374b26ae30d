package server

import (
	"io"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxFormFields is how many fields a form or query may have, not counting files.
const maxFormFields = 100

// Bad forms, in words that may be shown.
const (
	errPercent     = badRequest("The form or query is not valid: a % must be followed by two hexadecimal digits. With curl, use --data-urlencode.")
	errUTF8        = badRequest("The form or query is not valid UTF-8.")
	errTwice       = badRequest("The form or query has a field twice.")
	errFields      = badRequest("The form or query has too many fields.")
	errMultipart   = badRequest("The multipart body is not valid.")
	errPartHead    = badRequest("A part of the multipart body has too long a header.")
	errDisposition = badRequest("A part of the multipart body has no valid header Content-Disposition: form-data with a name.")
)

// A pair is a field of a form or query.
type pair struct{ name, text string }

// parsePairs reads application/x-www-form-urlencoded, as the URL Standard has it
// in section 5.1: nothing but & separates.
func parsePairs(text string) (pairs []pair, err error) {
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		if len(pairs) == maxFormFields {
			return nil, errFields
		}
		name, value, _ := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return nil, errPercent
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, errUTF8
		}
		pairs = append(pairs, pair{name: name, text: value})
	}
	return pairs, nil
}

// readPairs reads application/x-www-form-urlencoded from a body.
func readPairs(body io.Reader) ([]pair, error) {
	text, err := readText(body)
	if err != nil {
		return nil, err
	}
	return parsePairs(text)
}

// textStep is how many bytes of a text are read at once. A text may come slowly, and
// thousands of others with it: what each waits with must be small.
const textStep = 512

// readText reads a text to its end.
func readText(r io.Reader) (string, error) {
	var text strings.Builder
	_, err := io.CopyBuffer(&text, r, make([]byte, textStep))
	return text.String(), err
}

// only returns the one field of that name, and whether there is one.
func only(pairs []pair, name string) (text string, has bool, err error) {
	for _, p := range pairs {
		if p.name != name {
			continue
		}
		if has {
			return "", false, errTwice
		}
		text, has = p.text, true
	}
	return text, has, nil
}
