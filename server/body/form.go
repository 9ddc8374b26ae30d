package body

import (
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// maxFields is how many fields a form or query may have, not counting files.
const maxFields = 100

// A Form is a Sink that takes each field once.
type Form map[string]Value

// Field takes a field. ErrTwice if the form has it already.
func (f Form) Field(name string, v Value) error {
	if _, twice := f[name]; twice {
		return ErrTwice
	}
	f[name] = v
	return nil
}

// Text returns the text of a field; zero if the field was not sent.
func (f Form) Text(name string) secret.Text { return f[name].Text }

// A Pair is a name of a form or query with its text.
type Pair struct {
	Name string
	Text secret.Text
}

// Pairs are the fields of a form or query in their order. They are also a Sink.
type Pairs []Pair

// Field takes a field.
func (p *Pairs) Field(name string, v Value) error {
	*p = append(*p, Pair{name, v.Text})
	return nil
}

// Only returns the text of the one pair with that name, and whether there is one.
// ErrTwice if there are more.
func (p Pairs) Only(name string) (text secret.Text, has bool, err error) {
	for _, pair := range p {
		if pair.Name != name {
			continue
		}
		if has {
			return secret.Text{}, false, ErrTwice
		}
		text, has = pair.Text, true
	}
	return text, has, nil
}

// ParseQuery reads a query, or the text of a form, as section 5.1 of the URL Standard
// says: only & separates. Errors are Bad.
func ParseQuery(text string) (pairs Pairs, err error) {
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		if len(pairs) == maxFields {
			return nil, ErrFields
		}
		name, value, _ := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return nil, ErrPercent
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, ErrUTF8
		}
		pairs = append(pairs, Pair{name, secret.New(value)})
	}
	return pairs, nil
}

// readForm reads application/x-www-form-urlencoded. If any part of the form is not
// valid, the sink gets no field.
func (r *Reader) readForm(into Sink) error {
	text, err := readText(&pairCounter{from: r})
	if err != nil {
		return err
	}
	return r.readPairs(text, into)
}

// A pairCounter reads a form, and ends with ErrFields after the first pair beyond maxFields, so
// that it does not read megabytes that are refused anyway.
type pairCounter struct {
	from   io.Reader
	pairs  int
	inside bool // the last byte belonged to a pair
}

func (c *pairCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for _, b := range p[:n] {
		if b != '&' && !c.inside {
			c.pairs++
		}
		c.inside = b != '&'
	}
	if c.pairs > maxFields {
		err = ErrFields
	}
	return n, err
}

// readQuery reads the query in place of a form.
func (r *Reader) readQuery(into Sink) error {
	query := r.http.URL.RawQuery
	if int64(len(query)) > r.options.MaxText {
		return ErrTooLarge
	}
	r.err = io.EOF // the body has nothing to read
	return r.readPairs(query, into)
}

// queryHasFields reports whether the query has fields of the object. A request with both is
// ambiguous, and must not lose a passphrase.
func (r *Reader) queryHasFields() bool {
	pairs, err := ParseQuery(r.http.URL.RawQuery)
	return err == nil && slices.ContainsFunc(pairs, func(p Pair) bool { _, _, ok := r.cutName(p.Name); return ok })
}

func (r *Reader) readPairs(text string, into Sink) error {
	pairs, err := ParseQuery(text)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := r.field(p.Name, p.Text, into); err != nil {
			return err
		}
	}
	return nil
}

// field passes a field of a form to a sink, if it belongs to the object or may be outside it.
func (r *Reader) field(name string, text secret.Text, into Sink) error {
	key, single, ok := r.cutName(name)
	switch {
	case ok && r.options.Files != nil && key == r.options.FilesField:
		return r.textForFile(key, text, into)
	case ok && single:
		return into.Field(key, Value{Shape: String, Text: text})
	case ok:
		return into.Field(key, Value{Shape: List, Items: secret.New(text.Reveal() + ",")})
	case r.options.Flat:
		return into.Field(name, Value{Shape: String, Text: text})
	default:
		return nil
	}
}

// textForFile refuses a text in place of a file. It accepts a blank one, which some
// programs send for no file.
func (r *Reader) textForFile(key string, text secret.Text, into Sink) error {
	if strings.TrimSpace(text.Reveal()) == "" {
		return into.Field(key, Value{Shape: Null})
	}
	if err := into.Field(key, Value{Shape: List}); err != nil {
		return err
	}
	return howFiles
}

// cutName takes push[NAME] apart, and push[NAME][...], which is not single.
func (r *Reader) cutName(name string) (key string, single, ok bool) {
	rest, ok := strings.CutPrefix(name, r.options.Object)
	rest, open := strings.CutPrefix(rest, "[")
	key, rest, closed := strings.Cut(rest, "]")
	ok = ok && open && closed && r.options.Object != "" && key != "" && (rest == "" || rest[0] == '[')
	return key, rest == "", ok
}

// textStep is how many bytes of a text are read at once. Thousands of texts may arrive
// slowly at the same time, so each buffer must be small.
const textStep = 512

// readText reads a text to its end.
func readText(r io.Reader) (string, error) {
	var text strings.Builder
	_, err := io.CopyBuffer(&text, r, make([]byte, textStep))
	return text.String(), err
}
