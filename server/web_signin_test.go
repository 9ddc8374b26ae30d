package server_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pushbox/config"
)

// overTLS is what a trusted proxy says where the browser came over TLS.
var overTLS = http.Header{"X-Forwarded-Proto": {"https"}}

func TestTheCookieOfASession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header  http.Header
		trusted bool
		cookie  string
	}{
		"http":                         {http.Header{}, true, "pushbox_session"},
		"https before a trusted proxy": {overTLS, true, "__Host-pushbox"},
		"https says somebody":          {overTLS, false, "pushbox_session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newSite(t, func(c *config.Config) {
				if !test.trusted {
					c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
				}
			})
			b := a.browser(test.header)
			got := b.signIn(annEmail, annPassword).to("/")
			secure := strings.HasPrefix(test.cookie, "__Host-")
			c := got.cookies()[0]
			if len(got.cookies()) != 1 || c.Name != test.cookie || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 32 {
				t.Errorf("%v", got.header["Set-Cookie"])
			}
			if want := a.store.Clock.Now().Add(30 * day); !c.Expires.Equal(want) {
				t.Errorf("it expires at %v, not %v", c.Expires, want)
			}
			b.get("/users/sessions").want(http.StatusOK)
			gone := b.post("/users/sign_out").to("/users/sign_in").cookies()[0]
			if gone.Name != test.cookie || gone.Value != "" || gone.MaxAge >= 0 || gone.Path != "/" || gone.Secure != secure {
				t.Errorf("%+v", gone)
			}
		})
	}
}

// Otherwise a host beside this one, or somebody on the way, could plant one.
func TestOverTLSTheOtherCookieIsNotTaken(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	planted := a.browser(overTLS)
	planted.cookies["pushbox_session"] = b.session()
	planted.get("/users/sessions").to("/users/sign_in")
	plain := a.browser()
	plain.cookies["__Host-pushbox"] = b.session()
	plain.get("/users/sessions").to("/users/sign_in")
}

func TestASessionIsNewAtEachStepOfSigningIn(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.browser()
	b.cookies["pushbox_session"] = "fixed"
	b.signIn(annEmail, annPassword).to("/")
	ids := map[string]bool{"fixed": true, "": true}
	fresh := func() {
		t.Helper()
		if ids[b.session()] {
			t.Errorf("the session %q was there before", b.session())
		}
		ids[b.session()] = true
	}
	fresh()
	old := b.session()
	b.signIn(annEmail, annPassword).to("/")
	fresh()
	a.wantOver(old)
	totpSecret, _ := b.enableMFA()
	b.signIn(annEmail, annPassword).to("/users/sign_in")
	fresh()
	pending := b.session()
	b.post("/users/sign_in/code", "code", a.code(totpSecret, 0)).to("/")
	fresh()
	a.wantOver(pending)
	b.get("/users/sessions").want(http.StatusOK)
}

// wantOver fails the test if a session can still be used, as it is or for a code.
func (a *api) wantOver(session string) {
	a.t.Helper()
	b := a.browser()
	b.cookies["pushbox_session"] = session
	b.get("/users/sessions").to("/users/sign_in")
	b.get("/users/sign_in").want(http.StatusOK).says("Password")
	b.post("/users/sign_in/code", "code", "123456").to("/users/sign_in?late=1")
}

func TestSigningOutEndsTheSessionOnTheServer(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b, other := a.signedIn(annEmail, annPassword), a.signedIn(annEmail, annPassword)
	old := b.session()
	b.post("/users/sign_out").to("/users/sign_in")
	if b.session() != "" {
		t.Error("the browser keeps the cookie")
	}
	a.wantOver(old)
	other.get("/users/sessions").want(http.StatusOK)
}

func TestASessionEndsWithoutUse(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Sessions = config.Sessions{IdleTimeout: time.Hour, MaxAge: 3 * time.Hour} })
	b := a.signedIn(annEmail, annPassword)
	a.store.Clock.Advance(time.Hour - time.Second)
	b.get("/users/sessions").want(http.StatusOK)
	a.store.Clock.Advance(time.Hour - time.Second)
	b.get("/users/sessions").want(http.StatusOK)
	a.store.Clock.Advance(time.Hour)
	b.get("/users/sessions").to("/users/sign_in")
}

func TestASessionEndsHoweverMuchItIsUsed(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Sessions = config.Sessions{IdleTimeout: time.Hour, MaxAge: 3 * time.Hour} })
	b := a.signedIn(annEmail, annPassword)
	for range 5 {
		a.store.Clock.Advance(30 * time.Minute)
		b.get("/users/sessions").want(http.StatusOK)
	}
	a.store.Clock.Advance(30*time.Minute - time.Second)
	b.get("/users/sessions").want(http.StatusOK)
	a.store.Clock.Advance(time.Second)
	b.get("/users/sessions").to("/users/sign_in")
}

func TestASignInThatIsPendingAllowsNothingAndEndsSoon(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	a.signedIn(annEmail, annPassword).enableMFA()
	b := a.browser()
	b.signIn(annEmail, annPassword).to("/users/sign_in")
	b.get("/users/sign_in").want(http.StatusOK).says("One more step")
	for _, path := range []string{"/p", "/users/token", "/users/mfa"} {
		b.get(path).to("/users/sign_in")
	}
	a.store.Clock.Advance(10*time.Minute - time.Second)
	b.get("/users/sign_in").want(http.StatusOK).says("One more step")
	a.store.Clock.Advance(time.Second)
	b.post("/users/sign_in/code", "code", "123456").to("/users/sign_in?late=1")
	b.get("/users/sign_in?late=1").want(http.StatusOK).says("The code came too late.")
}

func TestAPendingSignInCanBeGivenUp(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	a.signedIn(annEmail, annPassword).enableMFA()
	b := a.browser()
	b.signIn(annEmail, annPassword).to("/users/sign_in")
	b.post("/users/sign_out").to("/users/sign_in")
	b.get("/users/sign_in").want(http.StatusOK).says("Password")
}

func TestAWrongSignInDoesNotTellWhatWasWrong(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.browser()
	email := func(r answer) string { return r.inputs("email")[0] }
	wrong := b.signIn(annEmail, "not the password").want(http.StatusForbidden)
	unknown := b.signIn("eve@example.com", "not the password").want(http.StatusForbidden)
	if email(wrong) != annEmail || email(unknown) != "eve@example.com" {
		t.Errorf("%q, %q", email(wrong), email(unknown))
	}
	if strings.Replace(wrong.body, annEmail, "eve@example.com", 1) != unknown.body {
		t.Error("the pages tell an address with an account from one without")
	}
	if wrong.inputs("password")[0] != "" {
		t.Error("the password comes back")
	}
	if b.session() != "" {
		t.Error("there is a session")
	}
}

func TestTooManySignInsOfAClient(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Limits.SignInsPerClient = 2 })
	b := a.browser(far(1))
	b.signIn(annEmail, "wrong").want(http.StatusForbidden)
	a.store.Clock.Advance(time.Second)
	b.signIn(annEmail, annPassword).to("/")
	got := b.signIn(annEmail, annPassword).want(http.StatusTooManyRequests).says("too many tries")
	if got.header.Get("Retry-After") != "19" || !strings.Contains(got.body, `<time datetime="2026-01-01T00:01:19Z">`) {
		t.Errorf("Retry-After %s: %s", got.header.Get("Retry-After"), got.body)
	}
	a.signedIn(annEmail, annPassword, far(2))
	a.store.Clock.Advance(19*time.Second - 1)
	b.signIn(annEmail, annPassword).want(http.StatusTooManyRequests)
	a.store.Clock.Advance(1)
	b.signIn(annEmail, annPassword).to("/")
}

func TestTooManyWrongSignInsAtAnAccount(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	for n := range 2 {
		a.browser(far(n)).signIn(annEmail, "wrong").want(http.StatusForbidden)
	}
	b := a.browser(far(9))
	b.signIn(annEmail, annPassword).want(http.StatusTooManyRequests)
	b.signIn("eve@example.com", "wrong").want(http.StatusForbidden)
	a.store.Clock.Advance(time.Hour - 1)
	b.signIn(annEmail, annPassword).want(http.StatusTooManyRequests)
	a.store.Clock.Advance(1)
	b.signIn(annEmail, annPassword).to("/")
}

func TestTooManyWrongCodes(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	totpSecret, _ := a.signedIn(annEmail, annPassword).enableMFA()
	b := a.browser()
	b.signIn(annEmail, annPassword).to("/users/sign_in")
	for range 2 {
		b.post("/users/sign_in/code", "code", "not it").want(http.StatusForbidden).says("That code is not right")
	}
	b.post("/users/sign_in/code", "code", a.code(totpSecret, 0)).want(http.StatusTooManyRequests).says("too many tries")
}

func TestTheAPITakesNoCookie(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	if b.get(pushes+"/active").want(http.StatusUnauthorized).problem() != "unauthorized" {
		t.Error("another text")
	}
	token := a.create(`"payload":"x","deletable_by_viewer":false`, a.user("bob@example.com"))
	b.do(http.MethodDelete, pushes+"/"+token, "", http.Header{}).want(http.StatusUnauthorized)
}

func TestNoPageTakesAnAPIToken(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	a.get("/users/token", a.user("bob@example.com")).to("/users/sign_in")
}

func TestADisabledAccountIsSignedOut(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	if err := a.store.SetDisabled(ctx, annEmail, true); err != nil {
		t.Fatal(err)
	}
	b.get("/users/sessions").to("/users/sign_in")
	b.signIn(annEmail, annPassword).want(http.StatusForbidden)
}

func TestAJumpOfTheClockEndsNoSessionAndBeginsNone(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	a.store.Clock.Jump(300 * day)
	a.browser().signIn(annEmail, annPassword).want(http.StatusServiceUnavailable)
	a.store.Clock.Jump(-300 * day)
	b.get("/users/sessions").want(http.StatusOK)
}
