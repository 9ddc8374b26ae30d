package client

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FuzzParseLink holds that a text which is taken for a link names, to net/url, the
// server that is asked; that the address of its push, and its page, are links of
// the same push; and that an error says nothing of the text.
func FuzzParseLink(f *testing.F) {
	for _, text := range []string{
		"https://push.example.com/p/" + aToken, "https://Push.example.com:443/deep/er/en/p/" + aToken + "/r", "http://[::1]:5100/f/" + aToken + ".json",
		"https://push.example.com/api/v2/pushes/" + aToken + "/preview.json", "https://a@push.example.com/p/" + aToken, "https://evil.example\\@push.example.com/p/" + aToken,
		"https://push.example.com/%70/" + aToken, "//host/p/" + aToken, "https://host:/p/" + aToken, "https://[fe80::1%25en0]/p/" + aToken,
		"https://host/p/../r/" + aToken, "https://host//p//" + aToken, "https://host/a%2Fb/p/" + aToken, "https://host/%252e%252e/p/" + aToken,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLink(text)
		if err != nil {
			if err != errLink && err != errCut && err != errUser {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		u, err := url.Parse(text)
		if err == nil && strings.Contains(u.Host, "%") {
			return // a zone, which net/url writes in a form that it may not read
		}
		if err != nil || u.User != nil || !strings.Contains(u.Path, l.token.Reveal()) {
			t.Fatalf("%q is taken for a link to %v", text, l.Server)
		}
		asked := l.Server.url("api", "v2", "pushes", l.token.Reveal())
		usual := map[string]string{"http": "80", "https": "443"}[asked.Scheme]
		port := func(u *url.URL) string { return strings.TrimPrefix(u.Port(), usual) }
		if asked.Scheme != strings.ToLower(u.Scheme) || asked.Hostname() != strings.ToLower(u.Hostname()) || port(asked) != port(u) && u.Port() != usual {
			t.Fatalf("%q asks %s", text, asked)
		}
		for _, again := range []string{asked.String(), l.Server.url("p", l.token.Reveal()).String()} {
			if same, err := ParseLink(again); err != nil || same.token.Reveal() != l.token.Reveal() || !same.Server.SameOrigin(l.Server) {
				t.Fatalf("%q became %q, which is %v, %v", text, again, same.Server, err)
			}
		}
	})
}

var rangeForm = regexp.MustCompile(`^(?:bytes )?(?:\*|([0-9+]+)-([0-9+-]+))/([0-9+-]+)$`)

// FuzzContentRange holds that a part which is believed has the form of one, ends
// with the whole, and is the one that was written.
func FuzzContentRange(f *testing.F) {
	for _, text := range []string{"bytes 0-9/10", "bytes 5-9/10", "bytes */10", "bytes 0-9/*", "bytes 0-/10", "0-9/10", "bytes 9-5/10", "bytes 100-9/10", "bytes 0--1/0", "bytes -1-9/10", "bytes 0-9/10/10", "bytes 0-18446744073709551615/18446744073709551616", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, total, ok := contentRange(http.Header{"Content-Range": {text}})
		if !ok {
			return
		}
		found := rangeForm.FindStringSubmatch(text)
		if found == nil || first < -1 || total < 0 || first >= total && first != -1 {
			t.Fatalf("%q is a part from %d of %d", text, first, total)
		}
		want := []int64{first, total - 1, total}
		if first == -1 {
			want = []int64{0, 0, total}
		}
		for i, digits := range found[1:] {
			if n, _ := strconv.ParseInt(digits, 10, 64); n != want[i] {
				t.Fatalf("%q is taken for %d of %d", text, first, total)
			}
		}
	})
}
