package email

import (
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestAddressesThatMailCanBeSentTo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", MaxLength-len("@b.example"))
	for address, want := range map[string]bool{
		"ann@example.com": true, "a+b.c_d-e'f@x.co": true, "root@localhost": true, long + "@b.example": true, "x@xn--bcher-kva.example": true,
		long + "a@b.example": false, "": false, "ann": false, "@example.com": false, "ann@": false, "a@b@c": false, "ann @example.com": false,
		"Ann <ann@example.com>": false, "<ann@example.com>": false, "ann@example.com (Ann)": false, `"a b"@example.com`: false, "ann@[127.0.0.1]": false,
		"ann@example.com\r\nBcc: eve@example.com": false, "ann@example.com\n": false, "a\x00@b.example": false, "änn@example.com": false, "ann@bücher.example": false,
		"a,b@example.com": false, "a;b@example.com": false, "a:b@example.com": false, `a\b@example.com`: false,
	} {
		env.Equal(t, address, IsSendable(address), want)
	}
}

func TestAnAddressHasNoName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ann@example.com": true, "änn@bücher.example": true,
		"": false, "ann": false, "Ann <ann@example.com>": false, "<ann@example.com>": false, " ann@example.com": false, "ann@example.com\n": false,
	} {
		env.Equal(t, text, IsAddress(text), want)
	}
}

func TestAnAddressIsComparedInOneForm(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		" Ann@Example.COM\n": "ann@example.com", "ÄNN@BÜCHER.example": "änn@bücher.example", "ИВАН@почта.рф": "иван@почта.рф",
		"\u212aarl@example.com": "\u212aarl@example.com", // the Kelvin sign, whose lower case is k
		"\u0130da@example.com":  "\u0130da@example.com",  // i with a dot, whose lower case is i
		"\u212bke@example.com":  "\u212bke@example.com",  // the sign for Ångström
		"ＡＮＮ@example.com":       "ＡＮＮ@example.com",       // full-width letters
	} {
		got := Fold(typed)
		if got != want || Fold(got) != got {
			t.Errorf("%q became %q, not %q", typed, got, want)
		}
	}
}

func TestAnAddressIsClear(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ann@example.com": true, "änn@bücher.example": true, "иван@почта.рф": true, "山田ハナ@例え.example": true, "김@예.example": true,
		"e\u0301ve@example.com": false, // a mark that NFKC puts into its letter
		"":                      false, "ann": false,
		"ann\u200b@example.com": false, "an\u00adn@example.com": false, "a\u202enn@example.com": false, "ann\u3164@example.com": false,
		"ann\ufe0f@example.com": false, "ann\u115f@example.com": false, "ann\u034f@example.com": false,
		"\u0430dm@example.com": false, "adm@ex\u0430mple.com": false, "\u0441\u0435\u043e@corp.example": false, // Cyrillic letters beside Latin ones
		"αnn@example.com": false, "ａnn@example.com": false, "\u212aarl@example.com": false, "ann@example。com": false, "ann@example․com": false,
		"adm\u0131n@example.com": false, "help@\u0261roup.example": false, "\u1d04e\u1d0f@example.com": false, "k\u0251rl@example.com": false,
		"karl@example.comノevil.example": false, "karl@bank丶com": false, "admーin@example.com": false, "山田@例え.example": true,
		"k\u0338arl@example.com": false, "an\u0e34n@example.com": false, "q\u0302\u0303@example.com": true, "q\u0302\u0303\u0304@example.com": false,
		"ann①@example.com": false, "ann٣@example.com": false, "ann…@example.com": false, "an’n@example.com": false,
	} {
		env.Equal(t, text, IsClear(text), want)
		if shown := Shown(text); want && shown != text || !want && strings.ContainsFunc(shown, func(r rune) bool { return r >= 0x80 }) {
			t.Errorf("%q is shown as %q", text, shown)
		}
	}
}

// Whatever is typed, its form is a form, and no letter beyond ASCII became one of ASCII.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"Ann@Example.com", "\u212a\u0130\u212b", "ß", "\xff", "ǅ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Fold(text)
		if Fold(got) != got {
			t.Errorf("%q became %q, and then %q", text, got, Fold(got))
		}
		count := func(s string) (n int) {
			for _, r := range s {
				if r < 0x80 {
					n++
				}
			}
			return n
		}
		if trimmed := strings.TrimSpace(text); count(got) != count(trimmed) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
