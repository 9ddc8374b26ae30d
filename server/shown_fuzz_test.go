package server

import (
	"bytes"
	"encoding/csv"
	"image/color"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/boombuler/barcode/qr"
)

// FuzzPairs holds that a form or query is read as net/url reads one in which
// nothing but & separates, or refused.
func FuzzPairs(f *testing.F) {
	for _, text := range []string{"a=b&c=d", "a=1;b=2", "a=b=c&=&&x", "push%5Bpayload%5D=%C3%A4+%2B", "a=%zz", "a=%ff", "a&a=", strings.Repeat("a&", 101), "\x00=\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := url.ParseQuery(strings.ReplaceAll(text, ";", "%3B"))
		pairs, ours := parsePairs(text)
		n, valid := 0, true
		for name, texts := range want {
			n += len(texts)
			valid = valid && utf8.ValidString(name) && !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
		}
		if ok := err == nil && valid && n <= maxFormFields; ok != (ours == nil) {
			t.Fatalf("%q: %v; net/url: %v, in UTF-8: %t, %d fields", text, ours, err, valid, n)
		}
		if ours != nil {
			return
		}
		got := make(url.Values)
		for _, p := range pairs {
			got.Add(p.name, p.text)
		}
		if got.Encode() != want.Encode() {
			t.Fatalf("%q is %v, not %v", text, got, want)
		}
	})
}

// formula is how what a spreadsheet computes begins, in a cell or behind what some
// programs divide cells at, with spaces and quotation marks before it or not.
var formula = regexp.MustCompile(`(^|[;\t])[ "]*[=+\-@\t\r\n]`)

// FuzzCells holds that no cell of a log computes anything, whatever divides cells,
// and that but for the apostrophes it says what was sent.
func FuzzCells(f *testing.F) {
	for _, text := range []string{"=1+1", "a;=1", "a\t@b", " \"-3", "Mozilla/5.0 (a; b-c)", "\r\n=1", "'=1", ";;;=", "a\x00=b", "\xff=1", "\u00a0=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := harmless(text)
		// An apostrophe is what keeps a cell from being computed, and \t between two
		// of them is one that a cell begins with.
		if formula.MatchString(cell) {
			t.Fatalf("%q became %q", text, cell)
		}
		if utf8.ValidString(text) && strings.ReplaceAll(cell, "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Fatalf("%q became %q", text, cell)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll([][]string{{cell, "end"}}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] != "end" {
			t.Fatalf("%q makes the rows %q, %v", cell, rows, err)
		}
	})
}

var run = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// FuzzQR holds that the path of a code, drawn again, has just the dark modules of
// the code, inside its quiet zone; and that a text without a code is too long.
func FuzzQR(f *testing.F) {
	for _, text := range []string{"", "0123456789", "HELLO WORLD", "https://push.example.com/p/x", "é 字 \x00", strings.Repeat("x", 2400), strings.Repeat("字", 900)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := newQR(text)
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

// FuzzDisposition holds that a header which names a file is one line of ASCII that
// says "save this", and that a program which reads it gets the name.
func FuzzDisposition(f *testing.F) {
	for _, name := range []string{"a.txt", `"; filename=evil.html`, "Überblick.pdf", "a\r\nX: y", `a\b`, "100%25.txt", "*", "字'字", "a;b=c", "\u202e"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		header := disposition(name)
		if strings.ContainsFunc(header, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("%q makes %q", name, header)
		}
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || len(params) != 1 || params["filename"] != name {
			t.Fatalf("%q makes %q, which is %q, %v", name, header, params, err)
		}
		ascii, _, _ := strings.Cut(strings.TrimPrefix(header, `attachment; filename="`), `"; filename*=`)
		if strings.ContainsAny(ascii, `"\%`) {
			t.Fatalf("%q has the old name %q", name, ascii)
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
		d := newDestination(text)
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
