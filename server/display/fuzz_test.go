package display

import (
	"image/color"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/boombuler/barcode/qr"
)

var run = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// FuzzQR holds that the path of a code, drawn again, has just the dark modules of
// the code, inside its quiet zone; and that a text without a code is too long.
func FuzzQR(f *testing.F) {
	for _, text := range []string{"", "0123456789", "HELLO WORLD", "https://push.example.com/p/x", "é 字 \x00", strings.Repeat("x", 2400), strings.Repeat("字", 900)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := NewQR(text)
		if err != nil {
			if len(text) < 2300 && utf8.ValidString(text) {
				t.Fatalf("%d bytes: %v", len(text), err)
			}
			return
		}
		drawn := make(map[[2]int]bool)
		rest := run.ReplaceAllStringFunc(code.Path, func(one string) string {
			var n [4]int
			for i, digits := range run.FindStringSubmatch(one)[1:] {
				n[i], _ = strconv.Atoi(digits)
			}
			for x := n[0]; x < n[0]+n[2] && n[2] == n[3]; x++ {
				drawn[[2]int{x - quietZone, n[1] - quietZone}] = true
			}
			return ""
		})
		want, err := qr.Encode(text, qr.M, qr.Unicode)
		if err != nil {
			want, err = qr.Encode(text, qr.L, qr.Unicode)
		}
		if err != nil || rest != "" {
			t.Fatalf("%v; %q is left of the path", err, rest)
		}
		side := want.Bounds().Dx()
		for y := range side {
			for x := range side {
				if dark := want.At(x, y) == color.Black; dark != drawn[[2]int{x, y}] {
					t.Fatalf("%q: the module at %d, %d is dark: %t", text, x, y, !dark)
				}
				delete(drawn, [2]int{x, y})
			}
		}
		if len(drawn) > 0 || code.Size != side+2*quietZone {
			t.Fatalf("%q: %d modules are outside of %d", text, len(drawn), code.Size)
		}
	})
}

// FuzzDestination holds that the host which a page tells is the one that its link
// leads to, and that nothing that cannot be seen is on the page.
func FuzzDestination(f *testing.F) {
	for _, text := range []string{
		"https://example.com/path", "https://bücher.example:8443/", "https://xn--80ak6aa92e.com/", "https://аpple.com/", "https://a\u202egnp.example/", "http://[2001:DB8::1]:80/",
		"https://ｅvil.example/", "https://a\u2215b.example/", "https://a%2eb/", "https://example.com/\u202e?q=\u200b#\u2066", "https://日本語。jp/",
		"https://example.com\uff0f.evil.example/", "https://example.com\uff20evil.example/", "https://example.com\u3000.evil.example", "http://example.com]", "https://bank.example\uff05.é.example",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(text, unicode.IsControl) {
			return // the store takes no such payload
		}
		d := NewDestination(text)
		for _, shown := range []string{d.URL, d.Host} {
			if strings.ContainsFunc(shown, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.Is(unicode.Zs, c) }) {
				t.Fatalf("%q is shown as %q", text, shown)
			}
		}
		if (d.Link == "") != d.Bad {
			t.Fatalf("%q: a link to %q", text, d.Link)
		}
		if d.Bad {
			return
		}
		to, err := url.Parse(d.Link)
		if err != nil || to.User != nil || to.Scheme != u.Scheme || to.Port() != u.Port() || to.EscapedPath() != u.EscapedPath() || to.RawQuery != u.RawQuery {
			t.Fatalf("%q leads to %q, %v", text, d.Link, err)
		}
		host := strings.ToLower(to.Hostname())
		told := d.ASCII
		if told == "" {
			told = strings.TrimSuffix(d.Host, ":"+to.Port())
			if inner, ok := strings.CutPrefix(told, "["); ok {
				told = strings.TrimSuffix(inner, "]")
			}
		}
		if strings.ContainsAny(told+d.Host, "/?#@\\ <>%") {
			t.Fatalf("%q: the page tells %q of %q", text, d.Host, told)
		}
		if told != host {
			t.Fatalf("%q: the page tells %q, the link leads to %q", text, told, host)
		}
	})
}
