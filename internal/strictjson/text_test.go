package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"pushbox/internal/strictjson"
)

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
	{"a high surrogate alone", `\ud800`, "half of a surrogate pair"},
	{"a high surrogate before text", `\ud800abcdefgh`, "half of a surrogate pair"},
	{"a high surrogate before an escape", `\ud800\n\n\n\n`, "half of a surrogate pair"},
	{"a high surrogate before a letter", `\ud800\u0041`, "half of a surrogate pair"},
	{"a low surrogate alone", `\udc00`, "half of a surrogate pair"},
	{"two high surrogates", `\ud800\ud800`, "half of a surrogate pair"},
	{"a pair the wrong way round", `\udc00\ud800`, "half of a surrogate pair"},
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
