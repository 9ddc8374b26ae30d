package strictjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pushbox/internal/strictjson"
)

// FuzzDecoder compares with encoding/json. A text that is accepted is the same tree
// there. A text that is refused is refused there too, or is not strict. The outcome
// does not depend on how the text arrives, or on whether it is read or skipped.
func FuzzDecoder(f *testing.F) {
	for _, c := range refused {
		f.Add([]byte(c.text))
	}
	for _, c := range badStrings {
		f.Add([]byte(`{"k":["` + c.inside + `"]}`))
	}
	f.Add([]byte(`{"push":{"payload":"p\u0000\ud83d\ude00","expire_after_days":7,"files":[],"passphrase":null}}`))
	f.Add([]byte(object(17, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := tree(bytes.NewReader(data))
		slow, slowErr := tree(iotest.OneByteReader(bytes.NewReader(data)))
		skipErr := strictjson.NewDecoder(bytes.NewReader(data)).End()
		if text(err) != text(slowErr) || text(err) != text(skipErr) || !reflect.DeepEqual(got, slow) {
			t.Fatalf("whole: %v; a byte at a time: %v; skipped: %v", err, slowErr, skipErr)
		}
		strict := json.Valid(data) && notStrict(data) == ""
		if strict != (err == nil) {
			t.Fatalf("refused: %v; valid: %v; not strict: %q", err, json.Valid(data), notStrict(data))
		}
		if err == nil && !reflect.DeepEqual(got, oracleTree(t, data)) {
			t.Fatalf("%#v is not what encoding/json reads", got)
		}
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// notStrict returns why valid JSON must be refused all the same, found in the simplest
// way there is; empty if there is no reason.
func notStrict(data []byte) string {
	switch {
	case !utf8.Valid(data):
		return "UTF-8"
	case loneSurrogate(string(data)):
		return "surrogate"
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []container
	held := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		var top *container
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '}' || token == ']' {
				held -= top.held
				open = open[:len(open)-1]
				continue
			}
			top.value()
			if open = append(open, container{keys: map[string]bool{}, object: token == '{'}); len(open) > strictjson.MaxDepth {
				return "depth"
			}
		case string:
			if !top.atKey() {
				top.value()
				continue
			}
			if top.keys[token] || len(top.keys) == strictjson.MaxMembers || len(token) > strictjson.MaxKey {
				return "key"
			}
			top.keys[token], top.afterKey = true, true
			top.held += len(token)
			if held += len(token); held > strictjson.MaxKeys {
				return "keys"
			}
		case json.Number:
			top.value()
			if len(token) > strictjson.MaxLiteral {
				return "number"
			}
		default:
			top.value()
		}
	}
}

// container is an open object or array of the oracle.
type container struct {
	object, afterKey bool
	keys             map[string]bool
	held             int
}

func (c *container) atKey() bool { return c != nil && c.object && !c.afterKey }

func (c *container) value() {
	if c != nil {
		c.afterKey = false
	}
}

// loneSurrogate looks at the escapes of valid JSON, which are in strings only.
func loneSurrogate(s string) bool {
	high := false
	for s != "" {
		size, unit := 1, uint64(0)
		if s[0] == '\\' {
			size = 2
			if s[1] == 'u' {
				size = 6
				unit, _ = strconv.ParseUint(s[2:6], 16, 32)
			}
		}
		low := unit >= 0xDC00 && unit <= 0xDFFF
		if high != low {
			return true
		}
		high = unit >= 0xD800 && unit <= 0xDBFF
		s = s[size:]
	}
	return high
}

func TestTheOracleKnowsWhatIsNotStrict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2}}`: "", `["\ud83d\ude00"]`: "", `["a","a"]`: "", nested(16): "",
		`{"a":1,"a":2}`: "key", `["\ud83d"]`: "surrogate", `["\\ud83d"]`: "", "[\"\xff\"]": "UTF-8", nested(17): "depth",
		strings.Repeat("1", 257): "number", object(1001, 4): "key", object(1, 1025): "key", object(65, 1024): "keys",
	} {
		if got := notStrict([]byte(text)); got != want {
			t.Errorf("%.40q: %q; want %q", text, got, want)
		}
	}
}
