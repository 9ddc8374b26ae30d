package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
