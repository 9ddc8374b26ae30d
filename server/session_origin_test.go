package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

// On plain HTTP to the proxy, and with older browsers, only Origin tells where a form
// came from.
func TestFormsPassAProxyThatKeepsTheHostToItself(t *testing.T) {
	t.Parallel()
	const origin = "https://push.example.com"
	for name, c := range map[string]struct {
		base    string
		headers http.Header
		want    int
	}{
		"the host is forwarded":           {"", http.Header{"Origin": {origin}, "X-Forwarded-Host": {"push.example.com"}, "X-Forwarded-Proto": {"https"}}, http.StatusForbidden},
		"another host is":                 {"", http.Header{"Origin": {origin}, "X-Forwarded-Host": {"other.example.com"}, "X-Forwarded-Proto": {"https"}}, 0},
		"it is the base_url":              {"https://Push.Example.com:443/", http.Header{"Origin": {origin}}, http.StatusForbidden},
		"another is":                      {"https://other.example.com", http.Header{"Origin": {origin}}, 0},
		"the browser says another site":   {origin, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 0},
		"the browser says nothing at all": {"", nil, http.StatusForbidden},
	} {
		a := servertest.New(t, func(cfg *config.Config) { cfg.BaseURL = strings.TrimSuffix(c.base, "/") })
		got := a.Do("POST", "/users/sign_in", url.Values{"email": {"a@example.com"}, "password": {"wrong wrong wrong"}}.Encode(),
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, c.headers)
		refused := strings.Contains(got.Body, "This came from another site")
		if got.Status != http.StatusForbidden || refused != (c.want == 0) {
			t.Errorf("%s: %d, refused as another site's: %t", name, got.Status, refused)
		}
	}
}

func TestACookieIsForTLSWhereTheBaseURLIs(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"": "lang=", "http://push.example.com": "lang=", "https://push.example.com": "Secure"} {
		a := servertest.New(t, func(cfg *config.Config) { cfg.BaseURL = base })
		cookie := a.Get("/users/sign_in?lang=de").Header.Get("Set-Cookie")
		if !strings.Contains(cookie, want) || (want == "Secure") != strings.Contains(cookie, "Secure") {
			t.Errorf("%s: %s", base, cookie)
		}
	}
}
