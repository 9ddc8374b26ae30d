package store

import (
	"strings"
	"testing"
	"unicode"

	"pushbox/internal/secret"
	"pushbox/internal/weburl"
	"pushbox/store/record"
)

// FuzzURLPayload holds that what a url push may lead to begins with http:// or
// https:// in any case, has a host and no user name in front of it, and has no
// character that a terminal or a header takes for more than text.
func FuzzURLPayload(f *testing.F) {
	for _, text := range []string{
		"https://example.com/", "HTTP://EXAMPLE.com", "data:text/html,<script>", "javascript:alert(1)//https://example.com/", "java\nscript:x", " https://example.com",
		"https:example.com", "https:///x", "//example.com", "https://a@example.com", "https://:80/", "https://[::1]/", "https://example.com\r\nX: y", "view-source:https://x", "ftp://x/", "https://example.com/100%",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bad := new(record.InvalidError)
		checkPayload(NewPush{Kind: record.URL, Payload: secret.New(text)}, bad)
		if bad.Err() != nil {
			return
		}
		scheme, rest, _ := strings.Cut(text, "://")
		authority, _, _ := strings.Cut(rest, "/")
		authority, _, _ = strings.Cut(authority, "?")
		authority, _, _ = strings.Cut(authority, "#")
		if s := strings.ToLower(scheme); s != "http" && s != "https" || authority == "" || strings.HasPrefix(authority, ":") || strings.Contains(authority, "@") {
			t.Fatalf("%q is taken", text)
		}
		if strings.ContainsFunc(text, unicode.IsControl) || len(text) > MaxText {
			t.Fatalf("%q is taken", text)
		}
		if u, err := weburl.Parse(text); err != nil || u.Host != authority && u.Hostname() == "" {
			t.Fatalf("%q leads to %v, %v", text, u, err)
		}
	})
}
