package client

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinksOfEveryFormAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/p/" + aToken, "/p/" + aToken + "/r", "/p/" + aToken + ".json", "/p/" + aToken + "/r.json", "/p/" + aToken + "/",
		"/f/" + aToken, "/r/" + aToken, "/r/" + aToken + "/r", "/en/p/" + aToken, "/pt-BR/p/" + aToken + "/r",
		"/p/" + aToken + "/preview", "/en/p/" + aToken + "/passphrase", "/p/" + aToken + "?locale=de", "/p/" + aToken + "#top",
		"/api/v2/pushes/" + aToken, "/api/v2/pushes/" + aToken + ".json", "/api/v2/pushes/" + aToken + "/preview.json",
	} {
		for _, base := range []string{"", "/secret", "/deep/er"} {
			l := mustLink(t, "https://Push.example.com"+base+path)
			got := l.Server.url("api", "v2", "pushes", l.token.Reveal()).String()
			if want := "https://push.example.com" + base + "/api/v2/pushes/" + aToken; got != want {
				t.Errorf("%s became %s, want %s", base+path, got, want)
			}
		}
	}
}

func TestShortTokensOfPasswordPusherAreUnderstood(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{
		"abcd": true, "abc": false, "fkwjfvhall92": true, "A_b-9c": true, "a.b.c.d": false, "täter": false,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
	} {
		if _, err := ParseLink("https://eu.pwpush.com/en/p/" + token); (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		}
		for _, page := range []string{"p", "f", "r"} {
			_, err := ParseLink("https://push.example.com/" + page + "/" + token)
			if cut := err != nil && strings.Contains(err.Error(), "is cut"); cut == ok {
				t.Errorf("/%s/%q: %v", page, token, err)
			}
		}
	}
}

func TestWhatIsNoLinkIsRefusedAndNotTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "marker", aToken, "/p/" + aToken, "push.example.com/p/" + aToken, "ftp://host/p/" + aToken, "https:///p/" + aToken,
		"https://host/", "https://host/p", "https://host/p/", "https://host/p/p", "https://host/x/" + aToken, "https://host/p/" + aToken + "/audit",
		"https://ann:marker@host/p/" + aToken, "https://host/api/v1/pushes/" + aToken, "https://ho st/p/" + aToken, "https://host/%zz/p/" + aToken,
		"https://host/p/" + aToken + "/r/r", "https://host/p/" + aToken + "\x00",
	} {
		_, err := ParseLink(text)
		if err == nil {
			t.Errorf("%q was taken for a link", text)
		}
		silent(t, err)
	}
}

func TestServersAreOnePlaceIfSchemeHostAndPortAre(t *testing.T) {
	t.Parallel()
	home, err := ParseServer("https://push.example.com/secret/")
	if err != nil || home.String() != "https://push.example.com" {
		t.Fatalf("%v, %v", home, err)
	}
	for text, same := range map[string]bool{
		"https://push.example.com": true, "https://PUSH.example.com:443/": true, "HTTPS://push.example.com/other": true,
		"http://push.example.com": false, "http://push.example.com:443": false, "https://push.example.com:8443": false,
		"https://push.example.com.evil.test": false, "https://example.com": false, "https://push.example.com.": false,
	} {
		s, err := ParseServer(text)
		if err != nil || s.SameOrigin(home) != same {
			t.Errorf("%s: %v, %v", text, s.SameOrigin(home), err)
		}
	}
	for _, text := range []string{"", "push.example.com", "ftp://x", "https://", "https://ann:marker@x", ":marker"} {
		s, err := ParseServer(text)
		if err == nil || !s.IsZero() {
			t.Errorf("%q was taken for a server", text)
		}
		silent(t, err)
	}
}

func TestPlainHTTPIsInClearExceptOnThisMachine(t *testing.T) {
	t.Parallel()
	for text, clear := range map[string]bool{
		"http://push.example.com": true, "http://192.0.2.1:5100": true, "http://[2001:db8::1]": true, "http://localhost.example.com": true,
		"http://localhost:5100": false, "http://127.0.0.1": false, "http://127.8.0.1:80": false, "http://[::1]:5100": false,
		"http://[::ffff:127.0.0.1]": false, "https://push.example.com": false,
	} {
		s, err := ParseServer(text)
		if err != nil || s.InClear() != clear {
			t.Errorf("%s: %v, %v", text, s.InClear(), err)
		}
	}
}

func TestALinkIsNotPrinted(t *testing.T) {
	t.Parallel()
	l := mustLink(t, "https://push.example.com/p/"+aToken)
	if got := fmt.Sprintf("%v %+v %#v", l, l, l); strings.Contains(got, aToken) {
		t.Errorf("printed: %s", got)
	}
}
