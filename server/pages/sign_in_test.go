package pages_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheCookieOfASession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header  http.Header
		trusted bool
		cookie  string
	}{
		"http":                           {http.Header{}, true, "pushbox_session"},
		"https before a trusted proxy":   {servertest.OverTLS, true, "__Host-pushbox"},
		"https says an untrusted client": {servertest.OverTLS, false, "pushbox_session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := servertest.NewSite(t, func(c *config.Config) {
				if !test.trusted {
					c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
				}
			})
			b := a.Browser(test.header)
			got := b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
			secure := strings.HasPrefix(test.cookie, "__Host-")
			c := got.Cookies()[0]
			known := got.Cookies()[1] // by which the browser is known later
			if strings.Replace(known.Name, "_known", "_session", 1) != test.cookie && known.Name != test.cookie+"-known" || known.Secure != secure || !known.HttpOnly ||
				known.SameSite != http.SameSiteLaxMode || known.Path != "/" || known.Domain != "" || known.MaxAge != 365*24*60*60 {
				t.Errorf("%v", known)
			}
			if len(got.Cookies()) != 2 || c.Name != test.cookie || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 32 {
				t.Errorf("%v", got.Header["Set-Cookie"])
			}
			if want := a.Store.Clock.Now().Add(30 * day); !c.Expires.Equal(want) {
				t.Errorf("it expires at %v, not %v", c.Expires, want)
			}
			b.Get("/users/sessions").Want(http.StatusOK)
			old := b.Session()
			gone := b.Post("/users/sign_out").To("/users/sign_in").Cookies()[1] // the first names the notice
			if gone.Name != test.cookie || gone.Value != "" || gone.MaxAge >= 0 || gone.Path != "/" || gone.Secure != secure {
				t.Errorf("%+v", gone)
			}
			a.WantOver(old)
		})
	}
}

// Otherwise another host of the domain, or an attacker on the network, could plant one.
func TestOverTLSTheCookieOfPlainHTTPIsIgnored(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	planted := a.Browser(servertest.OverTLS)
	planted.Cookies["pushbox_session"] = b.Session()
	planted.Get("/users/sessions").To("/users/sign_in")
	plain := a.Browser()
	plain.Cookies["__Host-pushbox"] = b.Session()
	plain.Get("/users/sessions").To("/users/sign_in")
}

func TestASessionIsNewAtEachStepOfSigningIn(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	b.Cookies["pushbox_session"] = "fixed"
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
	ids := map[string]bool{"fixed": true, "": true}
	fresh := func() {
		t.Helper()
		if ids[b.Session()] {
			t.Errorf("the session %q was there before", b.Session())
		}
		ids[b.Session()] = true
	}
	fresh()
	old := b.Session()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
	fresh()
	a.WantOver(old)
	totpSecret, _ := b.EnableMFA()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	fresh()
	pending := b.Session()
	b.Post("/users/sign_in/code", "code", a.Code(totpSecret, 0)).To("/")
	fresh()
	a.WantOver(pending)
	b.Get("/users/sessions").Want(http.StatusOK)
}

func TestAPendingSignInAllowsNothingAndEndsSoon(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK).Says("One more step")
	for _, path := range []string{"/p", "/users/token", "/users/mfa"} {
		b.Get(path).To("/users/sign_in")
	}
	a.Store.Clock.Advance(10*time.Minute - time.Second)
	b.Get("/users/sign_in").Want(http.StatusOK).Says("One more step")
	a.Store.Clock.Advance(time.Second)
	b.Post("/users/sign_in/code", "code", "123456").To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK).Says("The code came too late.")
}

func TestAPendingSignInCanBeCancelled(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Post("/users/sign_out").To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK).Says("Password")
}

func TestAWrongSignInDoesNotTellWhatWasWrong(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	email := func(r servertest.Answer) string { return r.Inputs("email")[0] }
	wrong := b.SignIn(servertest.AnnEmail, "not the password").Want(http.StatusForbidden)
	unknown := b.SignIn("eve@example.com", "not the password").Want(http.StatusForbidden)
	if email(wrong) != servertest.AnnEmail || email(unknown) != "eve@example.com" {
		t.Errorf("%q, %q", email(wrong), email(unknown))
	}
	if strings.Replace(wrong.Body, servertest.AnnEmail, "eve@example.com", 1) != unknown.Body {
		t.Error("the pages tell an address with an account from one without")
	}
	if wrong.Inputs("password")[0] != "" {
		t.Error("the password comes back")
	}
	if b.Session() != "" {
		t.Error("there is a session")
	}
}

func TestTooManySignInsOfAClient(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Limits.SignInsPerClient = 2 })
	b := a.Browser(servertest.Far(1))
	b.SignIn(servertest.AnnEmail, "wrong").Want(http.StatusForbidden)
	a.Store.Clock.Advance(time.Second)
	b.SignIn(servertest.AnnEmail, "wrong").Want(http.StatusForbidden)
	got := b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusTooManyRequests).Says("Too many attempts").Says("What you typed was not checked.")
	if got.Header.Get("Retry-After") != "19" || !strings.Contains(got.Body, `<time datetime="2026-01-01T00:01:19Z">`) {
		t.Errorf("Retry-After %s: %s", got.Header.Get("Retry-After"), got.Body)
	}
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, servertest.Far(2))
}

func TestTooManyWrongCodes(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	totpSecret, _ := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	for range 2 {
		b.Post("/users/sign_in/code", "code", "not it").Want(http.StatusForbidden).Says("Wrong code")
	}
	b.Post("/users/sign_in/code", "code", a.Code(totpSecret, 0)).Want(http.StatusTooManyRequests).Says("Too many attempts")
}

func TestTheAPIIgnoresCookies(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	if b.Get(pushes+"/active").Want(http.StatusUnauthorized).Problem() != "unauthorized" {
		t.Error("another text")
	}
	token := a.Create(`"payload":"x","deletable_by_viewer":false`, a.AddTokenUser("bob@example.com"))
	b.Do(http.MethodDelete, pushes+"/"+token, "", http.Header{}).Want(http.StatusUnauthorized)
}

func TestPagesIgnoreAPITokens(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	a.Get("/users/token", a.AddTokenUser("bob@example.com")).To("/users/sign_in")
}
