package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pushbox/internal/strictjson"
	"pushbox/internal/testkit/env"
)

func TestStrictTextIsReadAsItWasSent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `"x"`, `""`,
		" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n",
		`{"push":{"payload":"p","expire_after_days":7,"files":[],"passphrase":null}}`,
		`{"":1,"A":2,"a":3}`, // keys are compared with regard to case
		`[{"a":1},{"a":2}]`,  // the same key in two objects
		`{"a":{"a":{"a":1}}}`,
		`{"é":1,"e\u0301":2}`, // the same to the eye only
		`[1,-0,1.5,1e9,1E+2,-2.5e-10,0.0,123456789012345678901234567890]`,
		`"\u0000\u001f\b\f\n\r\t\"\\\/"`,
		`"\ud83d\ude00 \uD83D\uDE00 😀 \u00e9 \uFFFD \uffff` + "\u2028\x7f\"",
		"\"\xEF\xBB\xBF a byte order mark in a string\"",
		nested(strictjson.MaxDepth),
		"[" + strings.Repeat("[{}],", 20) + "{}]", // beside each other is not within
		strings.Repeat(" ", 5000) + `"far in"` + strings.Repeat("\n", 5000),
	} {
		want := oracleTree(t, []byte(text))
		for name, r := range readers(text) {
			got, err := tree(r)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q, %s: %#v, %v; want %#v", text, name, got, err, want)
			}
			if err := strictjson.NewDecoder(strings.NewReader(text)).End(); err != nil {
				t.Errorf("%q is refused when it is skipped: %v", text, err)
			}
		}
	}
}

// refused are texts that are not strict JSON, each with the reason and the offset that
// its error must name.
var refused = []struct {
	name, text, want string
}{
	{"an empty body", "", "the text ends too soon at byte 0"},
	{"white space only", " \n", "the text ends too soon at byte 2"},
	{"a byte order mark", "\xEF\xBB\xBF{}", "a value was expected at byte 0"},
	{"UTF-16", "\xFF\xFE{\x00}\x00", "a value was expected at byte 0"},
	{"a word that is none", "nul", "a number or word is not valid at byte 3"},
	{"a word in capitals", "[TRUE]", "a value was expected at byte 1"},
	{"a word that goes on", "truee", "a number or word is not valid at byte 5"},
	{"NaN", "NaN", "a value was expected at byte 0"},
	{"false spelt wrong", "[fals]", "a number or word is not valid at byte 5"},
	{"a comment", "{/**/}", "a key was expected at byte 1"},
	{"single quotes", "{'a':1}", "a key was expected at byte 1"},
	{"an open object", `{"a":1`, "the text ends too soon at byte 6"},
	{"an open array", "[1", "the text ends too soon at byte 2"},
	{"a key alone", `{"a"}`, "a colon was expected at byte 4"},
	{"a key and the end", `{"a"`, "the text ends too soon at byte 4"},
	{"a key without a value", `{"a":}`, "a value was expected at byte 5"},
	{"a number as key", "{1:2}", "a key was expected at byte 1"},
	{"a comma at the end of an object", `{"a":1,}`, "a key was expected at byte 7"},
	{"a comma at the end of an array", "[1,]", "a value was expected at byte 3"},
	{"a comma alone", "[,]", "a value was expected at byte 1"},
	{"no comma in an array", "[1 2]", "a comma or a closing bracket was expected at byte 3"},
	{"no comma in an object", `{"a":1 "b":2}`, "a comma or a closing bracket was expected at byte 7"},
	{"the wrong bracket", "[1}", "a comma or a closing bracket was expected at byte 2"},
	{"a bracket too many", "[]]", "a second value at byte 2"},
	{"a second value", "{} {}", "a second value at byte 3"},
	{"a second value at once", "1,2", "a second value at byte 1"},
	{"a NUL byte after the value", "{}\x00", "a second value at byte 2"},
	{"a byte order mark after the value", "{}\xEF\xBB\xBF", "a second value at byte 2"},
	{"one level too many", nested(strictjson.MaxDepth + 1), "the nesting is too deep at byte 16"},
	{"a million levels", strings.Repeat("[", 1e6), "the nesting is too deep at byte 16"},
	{"a duplicate key", `{"a":1,"a":2}`, "a key appears twice in an object at byte 11"},
	{"a duplicate empty key", `{"":1,"":2}`, "a key appears twice in an object at byte 9"},
	{"a duplicate key that is escaped", `{"a":1,"\u0061":2}`, "a key appears twice in an object at byte 16"},
	{"a duplicate key far down", `[[{"b":{"a":1,"c":2,"a":3}}]]`, "a key appears twice in an object at byte 24"},
}

func TestOtherTextIsRefusedWithThePlaceAndTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range readers(c.text) {
				_, err := tree(r)
				if !errors.Is(err, strictjson.ErrSyntax) || err.Error() != c.want {
					t.Errorf("%s: %v; want %s", name, err, c.want)
				}
			}
			for name, r := range readers(c.text) {
				err := strictjson.NewDecoder(r).End()
				if err == nil || err.Error() != c.want {
					t.Errorf("skipping, %s: %v; want %s", name, err, c.want)
				}
			}
		})
	}
}

func TestAnErrorNeverHoldsTheText(t *testing.T) {
	t.Parallel()
	const marker = "hunter2-marker"
	for _, text := range []string{
		marker, `{"` + marker + `"}`, `{"` + marker + `":1,"` + marker + `":2}`, `["` + marker + "\x01\"]",
		`["` + marker + "\xff\"]", `["` + marker + `\q"]`, `["` + marker + `\ud800"]`, `["` + marker, `1` + marker,
	} {
		_, err := tree(strings.NewReader(text))
		if err == nil {
			t.Errorf("%q is accepted", text)
		}
		if printed := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(printed, "hunter2") {
			t.Errorf("the error shows the text: %s", printed)
		}
	}
}

func TestACallbackMayLeaveItsValue(t *testing.T) {
	t.Parallel()
	const text = `{"skip":{"deep":[1,{"x":"y"}]},"list":[1,"two",[3],null],"keep":"kept","last":true}`
	d := strictjson.NewDecoder(strings.NewReader(text))
	var keys, kept []string
	err := d.Object(func(key string) error {
		keys = append(keys, key)
		switch key {
		case "list":
			return d.Array(func() error {
				if d.Kind() != strictjson.String {
					return nil
				}
				s, err := d.String(10)
				kept = append(kept, s)
				return err
			})
		case "keep":
			s, err := d.String(10)
			kept = append(kept, s)
			return err
		}
		return nil
	})
	if err == nil {
		err = d.End()
	}
	if err != nil || fmt.Sprint(keys) != "[skip list keep last]" || fmt.Sprint(kept) != "[two kept]" {
		t.Errorf("keys %v, kept %v, %v", keys, kept, err)
	}
}

func TestAnErrorOfACallbackEndsTheReading(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	d := strictjson.NewDecoder(strings.NewReader(`{"outer":{"a":1,"b":2},"c":3}`))
	err := d.Object(func(string) error {
		inner := d.Object(func(string) error { return mine })
		env.Equal(t, "the inner error is", inner, mine)
		return nil // what the callback hides stays known
	})
	if err != mine || d.End() != mine || d.Skip() != mine || d.Kind() != strictjson.Invalid {
		t.Errorf("the error is %v, then %v", err, d.End())
	}
}

func TestAValueIsReadOnce(t *testing.T) {
	t.Parallel()
	const text = `{"a":1,"b":2}`
	for name, again := range map[string]func(d *strictjson.Decoder) error{
		"in an object": func(d *strictjson.Decoder) error {
			return d.Object(func(string) error { return errors.Join(d.Skip(), d.Skip()) })
		},
		"at the top": func(d *strictjson.Decoder) error { return errors.Join(d.Skip(), d.Skip()) },
	} {
		d := strictjson.NewDecoder(strings.NewReader(text))
		if err := again(d); !errors.Is(err, strictjson.ErrSyntax) {
			t.Errorf("%s, a second reading: %v", name, err)
		}
	}
}

func TestKindTellsWhatComesWithoutReadingIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]strictjson.Kind{
		`{}`: strictjson.Object, `[]`: strictjson.Array, ` "x"`: strictjson.String, `-1`: strictjson.Number,
		`0`: strictjson.Number, `9`: strictjson.Number, `true`: strictjson.Bool, `false`: strictjson.Bool,
		`null`: strictjson.Null, ``: strictjson.Invalid, `]`: strictjson.Invalid, `+1`: strictjson.Invalid,
	} {
		d := strictjson.NewDecoder(strings.NewReader(text))
		if first, second := d.Kind(), d.Kind(); first != want || second != want {
			t.Errorf("%q is of kind %d, then %d; want %d", text, first, second, want)
		}
		if err := d.End(); (err == nil) != json.Valid([]byte(text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
