package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server"
)

func signUps(c *config.Config) {
	c.EnableSignups, c.SignupEmailRegexp = true, `[a-z]+@(example\.com|example\.org)|boss@example\.net`
}

func TestSignUpIsThereOnlyWhereItIsEnabled(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.browser()
	b.get("/users/sign_up").want(http.StatusNotFound)
	b.post("/users/sign_up", "email", "eve@example.com", "password", "a good password").want(http.StatusNotFound)
	if b.get("/users/sign_in").shows("/users/sign_up") {
		t.Error("a page leads to it")
	}
	b.signIn("eve@example.com", "a good password").want(http.StatusForbidden)
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	a := newSite(t, signUps)
	b := a.browser()
	b.get("/users/sign_up").want(http.StatusOK).says("Sign up")
	b.post("/users/sign_up", "email", " Eve@Example.COM ", "password", "a good password").to("/users/sign_in?made=1")
	if b.session() != "" {
		t.Error("it signs in")
	}
	b.get("/users/sign_in?made=1").says("If this address was free, the account is there now")
	b.signIn("eve@example.com", "a good password").to("/")
}

func TestSignUpDoesNotTellWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	a := newSite(t, signUps)
	b := a.browser()
	b.post("/users/sign_up", "email", annEmail, "password", "another password").to("/users/sign_in?made=1")
	b.signIn(annEmail, "another password").want(http.StatusForbidden)
	b.signIn(annEmail, annPassword).to("/")
}

func TestAddressesThatMaySignUp(t *testing.T) {
	t.Parallel()
	a := newSite(t, signUps)
	b := a.browser()
	for email, may := range map[string]bool{
		"eve@example.com":                true,
		"EVA@EXAMPLE.ORG":                true,
		"boss@example.net":               true,
		"eve@example.net":                false,
		"eve@example.comx":               false,
		"eve@exampleXcom":                false,
		"1eve@example.com":               false,
		"x boss@example.net":             false,
		"boss@example.net\n.evil.net":    false,
		"evil@evil.net\neve@example.com": false,
		"":                               false,
	} {
		got := b.post("/users/sign_up", "email", email, "password", "a good password")
		if may {
			got.to("/users/sign_in?made=1")
			continue
		}
		got.want(http.StatusUnprocessableEntity).says("Accounts are not open to addresses like this one.")
	}
}

func TestSignUpTellsWhichFieldIsWrong(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.EnableSignups = true })
	b := a.browser()
	for name, test := range map[string]struct {
		email, password string
		want            []string
	}{
		"no address":        {"nobody", "a good password", []string{"email"}},
		"too short":         {"eve@example.com", "ten chars", []string{"password"}},
		"too long":          {"eve@example.com", strings.Repeat("x", 1025), []string{"password"}},
		"neither":           {"nobody", "short", []string{"email", "password"}},
		"HTML is no markup": {`"><script>alert(1)</script>`, "short", []string{"email", "password"}},
	} {
		got := b.post("/users/sign_up", "email", test.email, "password", test.password).want(http.StatusUnprocessableEntity)
		if strings.Count(got.body, `class="error"`) != len(test.want) || strings.Count(got.body, `aria-invalid="true"`) != len(test.want) {
			t.Errorf("%s: %s", name, got.body)
		}
		for _, field := range test.want {
			got.inner(field + "-error")
		}
		if got.inputs("email")[0] != test.email || got.inputs("password")[0] != "" || strings.Contains(got.body, "<script>alert") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	b.post("/users/sign_up", "email", "a@example.com", "password", "ten chars!").to("/users/sign_in?made=1")
	b.post("/users/sign_up", "email", "b@example.com", "password", strings.Repeat("x", 1024)).to("/users/sign_in?made=1")
}

func TestSignUpsAreLimited(t *testing.T) {
	t.Parallel()
	a := newSite(t, signUps, func(c *config.Config) { c.Limits.SignInsPerClient = 2 })
	b := a.browser(far(1))
	for range 2 {
		b.post("/users/sign_up", "email", annEmail, "password", "x").want(http.StatusUnprocessableEntity)
	}
	good := func(b *browser) answer {
		return b.post("/users/sign_up", "email", "eve@example.com", "password", "a good password")
	}
	got := good(b).want(http.StatusTooManyRequests).says("too many tries")
	if got.header.Get("Retry-After") != "20" {
		t.Errorf("Retry-After %s", got.header.Get("Retry-After"))
	}
	good(a.browser(far(2))).to("/users/sign_in?made=1")
	a.store.Clock.Advance(20*time.Second - 1)
	good(b).want(http.StatusTooManyRequests)
	a.store.Clock.Advance(1)
	good(b).to("/users/sign_in?made=1")
}

func TestABadPatternOfAddressesIsAnError(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	cfg := config.Default()
	cfg.SignupEmailRegexp = "("
	_, err := server.New(server.Options{Config: cfg, Store: a.store.Store, Log: zerolog.Nop(), First: secret.New("x")})
	if err == nil || !strings.Contains(err.Error(), "signup_email_regexp") {
		t.Errorf("the error is %v", err)
	}
}
