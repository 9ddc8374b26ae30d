package strictjson_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/strictjson"
)

func TestNumbersAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "-0", "1", "10", "-12", "1.0", "0.10", "1e1", "1E1", "1e+1", "1e-1", "1.5e300", "12345678901234567890123",
		"00", "01", "-01", "-", "--1", "+1", ".5", "1.", "1.e1", "1e", "1e+", "1e1.5", "1.5.5", "0x10", "1_000", "1a", "Infinity", "-Infinity", "1-1", "1+1",
	} {
		valid := json.Valid([]byte(text))
		for name, r := range readers(text) {
			d := strictjson.NewDecoder(r)
			got, err := d.Number()
			if err == nil {
				err = d.End()
			}
			if valid && (err != nil || got != text) {
				t.Errorf("%s, %s: %q, %v", text, name, got, err)
			}
			if !valid && (!errors.Is(err, strictjson.ErrSyntax) && err != strictjson.ErrKind) {
				t.Errorf("%s, %s, is accepted as %q: %v", text, name, got, err)
			}
		}
	}
}

// reads are the methods that read one kind of value each.
var reads = map[strictjson.Kind]func(*strictjson.Decoder) error{
	strictjson.Object: func(d *strictjson.Decoder) error { return d.Object(func(string) error { return nil }) },
	strictjson.Array:  func(d *strictjson.Decoder) error { return d.Array(func() error { return nil }) },
	strictjson.String: func(d *strictjson.Decoder) error { _, err := d.String(10); return err },
	strictjson.Number: func(d *strictjson.Decoder) error { _, err := d.Number(); return err },
	strictjson.Bool:   func(d *strictjson.Decoder) error { _, err := d.Bool(); return err },
	strictjson.Null:   func(d *strictjson.Decoder) error { return d.Null() },
}

var examples = map[strictjson.Kind]string{
	strictjson.Object: `{"a":1}`, strictjson.Array: `[1]`, strictjson.String: `"s"`,
	strictjson.Number: `1`, strictjson.Bool: `false`, strictjson.Null: `null`,
}

func TestAValueOfAnotherKindIsNotConsumed(t *testing.T) {
	t.Parallel()
	for kind, text := range examples {
		for asked, read := range reads {
			d := strictjson.NewDecoder(strings.NewReader(text))
			err := read(d)
			if asked == kind && err != nil || asked != kind && err != strictjson.ErrKind {
				t.Errorf("%s read as kind %d: %v", text, asked, err)
			}
			if asked != kind && d.Kind() != kind {
				t.Errorf("%s was consumed by reading it as kind %d", text, asked)
			}
			if err := d.End(); err != nil {
				t.Errorf("%s after reading it as kind %d: %v", text, asked, err)
			}
		}
	}
}

func TestNothingIsReadWhereThereIsNoValue(t *testing.T) {
	t.Parallel()
	for kind, read := range reads {
		d := strictjson.NewDecoder(strings.NewReader("}"))
		if err := read(d); !errors.Is(err, strictjson.ErrSyntax) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
}

// badStrings are the insides of strings that are not strict, with the reason.
var badStrings = []struct {
	name, inside, reason string
}{
	{"a new line", "a\nb", "a control character"},
	{"a NUL", "a\x00b", "a control character"},
	{"the last control", "a\x1fb", "a control character"},
	{"a continuation alone", "a\x80b", "not valid UTF-8"},
	{"a byte that is never UTF-8", "a\xffb", "not valid UTF-8"},
	{"two bytes for a slash", "a\xc0\xafb", "not valid UTF-8"},
	{"three bytes for a slash", "a\xe0\x80\xafb", "not valid UTF-8"},
	{"a surrogate in UTF-8", "a\xed\xa0\x80b", "not valid UTF-8"},
	{"a surrogate pair in UTF-8", "\xed\xa0\xbd\xed\xb8\x80", "not valid UTF-8"},
	{"past the last code point", "a\xf4\x90\x80\x80b", "not valid UTF-8"},
	{"a rune cut short by text", "a\xf0\x9f\x98b", "not valid UTF-8"},
	{"a rune cut short by the quote", "a\xf0\x9f\x98", "not valid UTF-8"},
	{"a high surrogate alone", `\ud800`, "an incomplete surrogate pair"},
	{"a high surrogate before text", `\ud800abcdefgh`, "an incomplete surrogate pair"},
	{"a high surrogate before an escape", `\ud800\n\n\n\n`, "an incomplete surrogate pair"},
	{"a high surrogate before a letter", `\ud800\u0041`, "an incomplete surrogate pair"},
	{"a low surrogate alone", `\udc00`, "an incomplete surrogate pair"},
	{"two high surrogates", `\ud800\ud800`, "an incomplete surrogate pair"},
	{"a pair the wrong way round", `\udc00\ud800`, "an incomplete surrogate pair"},
	{"an unknown escape", `\q`, "an escape is not valid"},
	{"an escape of C", `\x41`, "an escape is not valid"},
	{"an escaped NUL byte", "\\\x00", "an escape is not valid"},
	{"a capital U", `\U0041`, "an escape is not valid"},
	{"a bad digit", `\u00g0`, "an escape is not valid"},
	{"a control for a digit", "\\u00\x10\x10", "an escape is not valid"},
	{"a sign for a digit", `\u+041`, "an escape is not valid"},
	{"digits cut short", `\u00`, "an escape is not valid"},
	{"a bad digit in the second half", `\ud83d\ude0x`, "an escape is not valid"},
}

func TestABadStringIsRefusedReadOrSkippedOrAsKey(t *testing.T) {
	t.Parallel()
	for _, c := range badStrings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{
				`["` + c.inside + `"     ]`,
				`{"` + c.inside + `":1 }`,
				`["` + strings.Repeat("é", 3000) + c.inside + `"     ]`,
			} {
				for name, r := range readers(text) {
					_, err := tree(r)
					if !errors.Is(err, strictjson.ErrSyntax) || !strings.Contains(err.Error(), c.reason) {
						t.Errorf("%.20q, %s: %v; want %q", text, name, err, c.reason)
					}
				}
				if err := strictjson.NewDecoder(strings.NewReader(text)).End(); !errors.Is(err, strictjson.ErrSyntax) {
					t.Errorf("%.20q is accepted when it is skipped: %v", text, err)
				}
			}
		})
	}
}

func TestAStringMayCrossTheBufferAnywhere(t *testing.T) {
	t.Parallel()
	const special = `é€😀\ud83d\ude00\u0000\n`
	want := "é€😀😀\x00\n"
	for _, near := range []int{1 << 10, 32 << 10, 33 << 10} { // the ends of the buffers
		for before := near - 40; before < near+4; before++ {
			fill := strings.Repeat("x", before)
			got, err := tree(strings.NewReader(`"` + fill + special + `"`))
			if err != nil || got != fill+want {
				t.Fatalf("after %d bytes: %v", before, err)
			}
		}
	}
}

func TestAnOpenStringEndsTooSoon(t *testing.T) {
	t.Parallel()
	const text = `"a😀\ud83d\ude00\n`
	for cut := 1; cut <= len(text); cut++ {
		for name, r := range readers(text[:cut]) {
			_, err := tree(r)
			if err == nil || !strings.HasPrefix(err.Error(), "the text ends too soon") {
				t.Errorf("%q, %s: %v", text[:cut], name, err)
			}
		}
	}
}

// anyLength is a limit that no test's string reaches.
const anyLength = 1 << 30

// tree reads a whole text into what encoding/json would make of it.
func tree(r io.Reader) (any, error) {
	d := strictjson.NewDecoder(r)
	v, err := value(d)
	if err != nil {
		return nil, err
	}
	return v, d.End()
}

// value reads the next value, whatever it is.
func value(d *strictjson.Decoder) (any, error) {
	switch d.Kind() {
	case strictjson.Object:
		m := map[string]any{}
		err := d.Object(func(key string) (err error) {
			m[key], err = value(d)
			return err
		})
		return m, err
	case strictjson.Array:
		a := []any{}
		err := d.Array(func() error {
			v, err := value(d)
			a = append(a, v)
			return err
		})
		return a, err
	case strictjson.String:
		return d.String(anyLength)
	case strictjson.Number:
		n, err := d.Number()
		return json.Number(n), err
	case strictjson.Bool:
		return d.Bool()
	default:
		return nil, d.Null() // returns what is wrong if there is no value
	}
}

// oracleTree reads a whole text with encoding/json.
func oracleTree(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	return v
}

// readers gives the same text in pieces of several sizes.
func readers(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":               strings.NewReader(text),
		"a byte at a time":    iotest.OneByteReader(strings.NewReader(text)),
		"halves":              iotest.HalfReader(strings.NewReader(text)),
		"end with the last":   iotest.DataErrReader(strings.NewReader(text)),
		"with idle reads too": &idleReader{text: text},
	}
}

// idleReader yields nothing on every other read.
type idleReader struct {
	text string
	idle bool
}

func (r *idleReader) Read(p []byte) (int, error) {
	r.idle = !r.idle
	if r.idle {
		return 0, nil
	}
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(3, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}

// nested is n arrays within each other.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
