package server

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxFormFields is how many fields a form or query may have.
const maxFormFields = 100

// Bad forms, in words that may be shown.
const (
	errPercent   = badRequest("The form or query is not valid: a % must be followed by two hexadecimal digits. With curl, use --data-urlencode.")
	errUTF8      = badRequest("The form or query is not valid UTF-8.")
	errTwice     = badRequest("The form or query has a field twice.")
	errFields    = badRequest("The form or query has too many fields.")
	errMultipart = badRequest("The multipart body is not valid.")
)

// A pair is a field of a form or query.
type pair struct {
	name, text string
	file       bool // it was sent as a file
}

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

// readForm reads the fields of a form of either type.
func readForm(body io.Reader, media, boundary string) ([]pair, error) {
	if media == typeMultipart {
		return readMultipart(body, boundary)
	}
	var text strings.Builder
	if _, err := io.Copy(&text, body); err != nil {
		return nil, err
	}
	return parsePairs(text.String())
}

// readMultipart reads multipart/form-data. A file among push[files] ends it:
// there can be no such push yet, and so its content need not be sent.
func readMultipart(body io.Reader, boundary string) (pairs []pair, err error) {
	if boundary == "" {
		return nil, errMultipart
	}
	parts := multipart.NewReader(body, boundary)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return pairs, nil
		}
		if err != nil {
			return nil, multipartError(err)
		}
		if len(pairs) == maxFormFields {
			return nil, errFields
		}
		p := pair{name: part.FormName(), file: part.FileName() != ""}
		if key, _, ok := bracketName(p.name); ok && key == filesField && p.file {
			return append(pairs, p), nil
		}
		var text strings.Builder
		if _, err := io.Copy(&text, part); err != nil {
			return nil, multipartError(err)
		}
		if p.text = text.String(); !utf8.ValidString(p.name) || !utf8.ValidString(p.text) {
			return nil, errUTF8
		}
		pairs = append(pairs, p)
	}
}

// multipartError keeps apart a multipart body that is broken and one that is too
// large: the reader does not say which.
func multipartError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return errMultipart
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
