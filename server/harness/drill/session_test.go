package drill_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

// GHSA-4fwj-m62q-pp47, Password Pusher: an attacker who copied the cookie of a session
// could use it after its owner signed out. Here a session is kept and ended on the
// server, and neither the network nor a page shows its cookie.
func drillCopiedSession(t *testing.T) {
	for name, end := range map[string]func(*servertest.Server, *servertest.Browser){
		"signing out": func(_ *servertest.Server, b *servertest.Browser) { b.Post("/users/sign_out").To("/users/sign_in") },
		"signing in": func(_ *servertest.Server, b *servertest.Browser) {
			b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
		},
		"a new password": func(_ *servertest.Server, b *servertest.Browser) {
			b.Post("/users/password", "old", servertest.AnnPassword, "new", "another good password", "again", "another good password")
		},
		"idle hours": func(a *servertest.Server, _ *servertest.Browser) { a.Store.Clock.Advance(12 * time.Hour) },
	} {
		a := servertest.NewSite(t)
		b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, servertest.OverTLS)
		cookie := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, servertest.OverTLS).Get("/users/sessions?lang=de").Cookies()
		for _, c := range append(cookie, a.Browser(servertest.OverTLS).SignIn(servertest.AnnEmail, servertest.AnnPassword).Cookies()...) {
			if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("a cookie can be read by others: %v", c)
			}
		}
		thief := a.Browser(servertest.OverTLS)
		for name, value := range b.Cookies {
			thief.Cookies[name] = value
		}
		thief.Get("/p").Want(http.StatusOK)
		end(a, b)
		for _, path := range []string{"/p", "/users/sessions", "/users/token", "/users/password"} {
			if got := thief.Get(path); got.Status != http.StatusSeeOther || got.Header.Get("Location") != "/users/sign_in" {
				t.Errorf("after %s %s is answered with %d", name, path, got.Status)
			}
		}
	}
}

// Finding M-14 of Onetime Secret's review of 2026-08-14: removing a session said
// that it worked, and the session stayed valid.
func drillRemovedSession(t *testing.T) {
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for _, field := range []string{"id", "others"} {
		stolen := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
		stolen.Get("/p").Want(http.StatusOK)
		value := "yes"
		if field == "id" {
			value = b.Get("/users/sessions").Inputs("id")[0]
		}
		b.Post("/users/sessions/end", field, value).To("/users/sessions")
		stolen.Get("/p").To("/users/sign_in")
		stolen.Post("/users/token", "password", servertest.AnnPassword, "days", "0").To("/users/sign_in")
		a.WantOver(stolen.Session())
	}
	a.Store.Clock.Advance(29 * day) // and none lasts for good, however much it is used
	b = a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for range 61 {
		b.Get("/p").Want(http.StatusOK)
		a.Store.Clock.Advance(11*time.Hour + 48*time.Minute)
	}
	a.Store.Clock.Advance(30*day - 61*(11*time.Hour+48*time.Minute))
	b.Get("/p").To("/users/sign_in")
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
	a := servertest.NewSite(t)
	a.AddAccount("mallory@example.com", servertest.AnnPassword)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	form := "email=mallory%40example.com&password=" + strings.ReplaceAll(servertest.AnnPassword, " ", "+")
	for name, from := range elsewhere {
		got := b.Do("POST", "/users/sign_in", form, http.Header{"Content-Type": servertest.Urlencoded["Content-Type"], "Sec-Fetch-Site": from["Sec-Fetch-Site"], "Origin": from["Origin"]})
		if got.Status != http.StatusForbidden || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, %v", name, got.Status, got.Header["Set-Cookie"])
		}
		b.Get("/users/sessions").Want(http.StatusOK).Says(servertest.AnnEmail)
	}
	b.Do("POST", "/users/sign_in", form, http.Header{"Content-Type": servertest.Urlencoded["Content-Type"], "Origin": {a.URL}}).To("/")
	b.Get("/users/sessions").Want(http.StatusOK).Says("mallory@example.com")
}

// GHSA-mqqj-fx8h-437j, PrivateBin 1.5.0 to 1.7.3: whether an address is one of the
// server's own was found by looking for the server's in it. Here a form would be
// taken from a site that is called nearly so.
func drillAddressInAnother(t *testing.T) {
	a := servertest.NewSite(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	for _, origin := range []string{
		"https://push.example.com.evil.example", "https://evil.example/https://push.example.com", "https://evil.example?https://push.example.com",
		"https://push.example.com@evil.example", "https://evilpush.example.com", "https://push.example.comevil", "https://push.example.com:8443",
		"http://push.example.com", "https://push.example.com%2eevil.example", "https://push.example.com\\.evil.example", "https://PUSH.example.com.", "null",
	} {
		got := a.Do("POST", "/users/sign_in", "email=ann%40example.com&password=wrong", servertest.Urlencoded, http.Header{"Origin": {origin}})
		if !got.Shows("This came from another site") {
			t.Errorf("%s is taken for this site: %d", origin, got.Status)
		}
	}
	ours := a.Do("POST", "/users/sign_in", "email=ann%40example.com&password=wrong", servertest.Urlencoded, http.Header{"Origin": {"https://push.example.com"}})
	if ours.Want(http.StatusForbidden).Shows("This came from another site") {
		t.Error("this site is taken for another")
	}
}

// Finding P1 of Onetime Secret's review of 2026-06-22: the API took the cookie of
// the pages, without what keeps other sites from using it.
func drillCookieAtTheAPI(t *testing.T) {
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	key := servertest.Bearer(b.Post("/users/token", "password", servertest.AnnPassword, "days", "0").Want(http.StatusCreated).Inner("token"))
	token := a.Create(`"payload":"x","deletable_by_viewer":false`, key)
	before := a.Trace(token)
	for _, r := range []struct{ method, path, body string }{
		{"GET", pushes + "/active", ""},
		{"GET", pushes + "/expired", ""},
		{"GET", pushes + "/" + token + "/audit", ""},
		{"DELETE", pushes + "/" + token, ""},
		{"POST", pushes, `{"push":{"payload":"x","files":[{"content":""}]}}`},
	} {
		for name, from := range elsewhere {
			got := b.Do(r.method, r.path, r.body, http.Header{"Sec-Fetch-Site": from["Sec-Fetch-Site"], "Origin": from["Origin"], "Content-Type": {"application/json"}})
			if got.Status != http.StatusUnauthorized || got.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s %s is answered with %d", name, r.method, r.path, got.Status)
			}
		}
	}
	if after := a.Trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
	a.Do("DELETE", pushes+"/"+token, "", key).Want(http.StatusOK)
}

// Finding P5 of Onetime Secret's review of 2026-06-22: the log kept the name at a
// sign-in as it was sent, with its line breaks.
func drillLinesInTheLog(t *testing.T) {
	a := servertest.NewSite(t)
	const forged = "marker\"}\r\n{\"level\":\"info\",\"route\":\"forged\",\"status\":200}\n"
	before := strings.Count(a.Log.String(), "\n")
	requests := 0
	for _, field := range []string{"email", "password", "code"} {
		a.Browser().Post("/users/sign_in", field, forged)
		requests++
	}
	b := a.Browser(http.Header{"User-Agent": {"marker\t{}"}, "Referer": {"http://marker/\"}"}, "Authorization": {"Basic bWFya2VyCg=="}, "X-User-Email": {"marker\t\"}"}})
	for _, path := range []string{"/p/marker%0d%0aforged", "/marker%0a", pushes + "/marker%0a?passphrase=marker%0a", "/users/sign_in?marker=%0a"} {
		b.Get(path)
		requests++
	}
	lines := strings.Split(strings.TrimSuffix(a.Log.String(), "\n"), "\n")[before:]
	if len(lines) != requests {
		t.Errorf("%d lines for %d requests", len(lines), requests)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) || strings.Contains(line, "marker") || strings.Contains(line, "forged") {
			t.Errorf("the line %s", line)
		}
	}
}
