package strictjson_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/strictjson"
)

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
