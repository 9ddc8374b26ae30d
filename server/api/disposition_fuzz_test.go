package api

import (
	"mime"
	"strings"
	"testing"
)

// FuzzDisposition checks that a header with a file's name is one line of ASCII that
// says "save this", and that a program that reads it gets the name.
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
