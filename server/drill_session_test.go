package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
)

// GHSA-4fwj-m62q-pp47, Password Pusher: whoever copied the cookie of a session
// could go on with it after its owner signed out. A session here lies on the
// server and ends there, and nobody on the way or in a page gets to see its cookie.
func drillCopiedSession(t *testing.T) {
	for name, end := range map[string]func(*api, *browser){
		"signing out": func(_ *api, b *browser) { b.post("/users/sign_out").to("/users/sign_in") },
		"signing in":  func(_ *api, b *browser) { b.signIn(annEmail, annPassword).to("/") },
		"a new password": func(_ *api, b *browser) {
			b.post("/users/password", "old", annPassword, "new", "another good password", "again", "another good password")
		},
		"idle hours": func(a *api, _ *browser) { a.store.Clock.Advance(12 * time.Hour) },
	} {
		a := newSite(t)
		b := a.signedIn(annEmail, annPassword, overTLS)
		cookie := a.signedIn(annEmail, annPassword, overTLS).get("/users/sessions?lang=de").cookies()
		for _, c := range append(cookie, a.browser(overTLS).signIn(annEmail, annPassword).cookies()...) {
			if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("a cookie can be read by others: %v", c)
			}
		}
		thief := a.browser(overTLS)
		for name, value := range b.cookies {
			thief.cookies[name] = value
		}
		thief.get("/p").want(http.StatusOK)
		end(a, b)
		for _, path := range []string{"/p", "/users/sessions", "/users/token", "/users/password"} {
			if got := thief.get(path); got.status != http.StatusSeeOther || got.header.Get("Location") != "/users/sign_in" {
				t.Errorf("after %s %s is answered with %d", name, path, got.status)
			}
		}
	}
}

// Finding M-14 of Onetime Secret's review of 2026-08-14: removing a session said
// that it worked, and the session went on.
func drillRemovedSession(t *testing.T) {
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	for _, field := range []string{"id", "others"} {
		stolen := a.signedIn(annEmail, annPassword)
		stolen.get("/p").want(http.StatusOK)
		value := "yes"
		if field == "id" {
			value = b.get("/users/sessions").inputs("id")[0]
		}
		b.post("/users/sessions/end", field, value).to("/users/sessions")
		stolen.get("/p").to("/users/sign_in")
		stolen.post("/users/token", "days", "0").to("/users/sign_in")
		a.wantOver(stolen.session())
	}
	a.store.Clock.Advance(29 * day) // and none lasts for good, however much it is used
	b = a.signedIn(annEmail, annPassword)
	for range 61 {
		b.get("/p").want(http.StatusOK)
		a.store.Clock.Advance(11*time.Hour + 48*time.Minute)
	}
	a.store.Clock.Advance(30*day - 61*(11*time.Hour+48*time.Minute))
	b.get("/p").to("/users/sign_in")
}

// elsewhere are the headers of a form that a page of another site sends.
var elsewhere = map[string]http.Header{
	"another site":                    {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
	"a site beside it":                {"Sec-Fetch-Site": {"same-site"}},
	"another site, in an old browser": {"Origin": {"https://evil.example"}},
	"a frame without an origin":       {"Origin": {"null"}},
	"another port":                    {"Origin": {"http://127.0.0.1:1"}},
}

// GHSA-hcff-qv74-7hr4, Gokapi before 2.2.3: the form to sign in was taken from any
// site, which could put a visitor into an account of its own.
func drillForcedSignIn(t *testing.T) {
	a := newSite(t)
	a.person("mallory@example.com", annPassword)
	b := a.signedIn(annEmail, annPassword)
	form := "email=mallory%40example.com&password=" + strings.ReplaceAll(annPassword, " ", "+")
	for name, from := range elsewhere {
		got := b.do("POST", "/users/sign_in", form, http.Header{"Content-Type": urlencoded["Content-Type"], "Sec-Fetch-Site": from["Sec-Fetch-Site"], "Origin": from["Origin"]})
		if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, %v", name, got.status, got.header["Set-Cookie"])
		}
		b.get("/users/sessions").want(http.StatusOK).says(annEmail)
	}
	b.do("POST", "/users/sign_in", form, http.Header{"Content-Type": urlencoded["Content-Type"], "Origin": {a.url}}).to("/")
	b.get("/users/sessions").want(http.StatusOK).says("mallory@example.com")
}

// GHSA-mqqj-fx8h-437j, PrivateBin 1.5.0 to 1.7.3: whether an address is one of the
// server's own was found by looking for the server's in it. Here a form would be
// taken from a site that is called nearly so.
func drillAddressInAnother(t *testing.T) {
	a := newSite(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	for _, origin := range []string{
		"https://push.example.com.evil.example", "https://evil.example/https://push.example.com", "https://evil.example?https://push.example.com",
		"https://push.example.com@evil.example", "https://evilpush.example.com", "https://push.example.comevil", "https://push.example.com:8443",
		"http://push.example.com", "https://push.example.com%2eevil.example", "https://push.example.com\\.evil.example", "https://PUSH.example.com.", "null",
	} {
		got := a.do("POST", "/users/sign_in", "email=ann%40example.com&password=wrong", urlencoded, http.Header{"Origin": {origin}})
		if !got.shows("This came from another site") {
			t.Errorf("%s is taken for this site: %d", origin, got.status)
		}
	}
	ours := a.do("POST", "/users/sign_in", "email=ann%40example.com&password=wrong", urlencoded, http.Header{"Origin": {"https://push.example.com"}})
	if ours.want(http.StatusForbidden).shows("This came from another site") {
		t.Error("this site is taken for another")
	}
}

// Finding P1 of Onetime Secret's review of 2026-06-22: the API took the cookie of
// the pages, without what keeps other sites from using it.
func drillCookieAtTheAPI(t *testing.T) {
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	key := bearer(b.post("/users/token", "days", "0").want(http.StatusCreated).inner("token"))
	token := a.create(`"payload":"x","deletable_by_viewer":false`, key)
	before := a.trace(token)
	for _, r := range []struct{ method, path, body string }{
		{"GET", pushes + "/active", ""},
		{"GET", pushes + "/expired", ""},
		{"GET", pushes + "/" + token + "/audit", ""},
		{"DELETE", pushes + "/" + token, ""},
		{"POST", pushes, `{"push":{"payload":"x","files":[]}}`},
	} {
		for name, from := range elsewhere {
			got := b.do(r.method, r.path, r.body, http.Header{"Sec-Fetch-Site": from["Sec-Fetch-Site"], "Origin": from["Origin"], "Content-Type": {"application/json"}})
			if got.status != http.StatusUnauthorized || got.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s %s is answered with %d", name, r.method, r.path, got.status)
			}
		}
	}
	if after := a.trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
	a.do("DELETE", pushes+"/"+token, "", key).want(http.StatusOK)
}

// Finding P5 of Onetime Secret's review of 2026-06-22: the log took the name of
// whoever signs in as it came, with its line breaks.
func drillLinesInTheLog(t *testing.T) {
	a := newSite(t)
	const forged = "marker\"}\r\n{\"level\":\"info\",\"route\":\"forged\",\"status\":200}\n"
	before := strings.Count(a.log.String(), "\n")
	requests := 0
	for _, field := range []string{"email", "password", "code"} {
		a.browser().post("/users/sign_in", field, forged)
		requests++
	}
	b := a.browser(http.Header{"User-Agent": {"marker\t{}"}, "Referer": {"http://marker/\"}"}, "Authorization": {"Basic bWFya2VyCg=="}, "X-User-Email": {"marker\t\"}"}})
	for _, path := range []string{"/p/marker%0d%0aforged", "/marker%0a", pushes + "/marker%0a?passphrase=marker%0a", "/users/sign_in?marker=%0a"} {
		b.get(path)
		requests++
	}
	lines := strings.Split(strings.TrimSuffix(a.log.String(), "\n"), "\n")[before:]
	if len(lines) != requests {
		t.Errorf("%d lines for %d requests", len(lines), requests)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) || strings.Contains(line, "marker") || strings.Contains(line, "forged") {
			t.Errorf("the line %s", line)
		}
	}
}
