package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/server"
	"pushbox/server/servertest"
)

func TestSignUpExistsOnlyIfItIsEnabled(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	b.Get("/users/sign_up").Want(http.StatusNotFound)
	b.Post("/users/sign_up", "email", "eve@example.com", "password", "a good password").Want(http.StatusNotFound)
	if b.Get("/users/sign_in").Shows("/users/sign_up") {
		t.Error("a page leads to it")
	}
	b.SignIn("eve@example.com", "a good password").Want(http.StatusForbidden)
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SignUps)
	b := a.Browser()
	b.Get("/users/sign_up").Want(http.StatusOK).Says("Sign up")
	b.Post("/users/sign_up", "email", " Eve@Example.COM ", "password", "a good password").To("/users/sign_in")
	if b.Session() != "" {
		t.Error("it signs in")
	}
	b.Get("/users/sign_in").Says("If this address had no account, it has one now")
	b.SignIn("eve@example.com", "a good password").To("/")
}

func TestSignUpDoesNotTellWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SignUps)
	b := a.Browser()
	b.Post("/users/sign_up", "email", servertest.AnnEmail, "password", "another password").To("/users/sign_in")
	b.SignIn(servertest.AnnEmail, "another password").Want(http.StatusForbidden)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}

func TestAddressesThatMaySignUp(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SignUps)
	b := a.Browser()
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
		got := b.Post("/users/sign_up", "email", email, "password", "a good password")
		if may {
			got.To("/users/sign_in")
			continue
		}
		got.Want(http.StatusUnprocessableEntity).Says("This server does not accept accounts for this address.")
	}
}

func TestSignUpTellsWhichFieldIsWrong(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableSignups = true })
	b := a.Browser()
	for name, test := range map[string]struct {
		email, password string
		want            []string
	}{
		"no address":        {"not-an-address", "a good password", []string{"email"}},
		"too short":         {"eve@example.com", "ten chars", []string{"password"}},
		"too long":          {"eve@example.com", strings.Repeat("x", 1025), []string{"password"}},
		"neither":           {"not-an-address", "short", []string{"email", "password"}},
		"HTML is no markup": {`"><script>alert(1)</script>`, "short", []string{"email", "password"}},
	} {
		got := b.Post("/users/sign_up", "email", test.email, "password", test.password).Want(http.StatusUnprocessableEntity)
		if strings.Count(got.Body, `class="error"`) != len(test.want) || strings.Count(got.Body, `aria-invalid="true"`) != len(test.want) {
			t.Errorf("%s: %s", name, got.Body)
		}
		for _, field := range test.want {
			got.Inner(field + "-error")
		}
		if got.Inputs("email")[0] != test.email || got.Inputs("password")[0] != "" || strings.Contains(got.Body, "<script>alert") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	b.Post("/users/sign_up", "email", "a@example.com", "password", "ten chars!").To("/users/sign_in")
	b.Post("/users/sign_up", "email", "b@example.com", "password", strings.Repeat("x", 1024)).To("/users/sign_in")
}

func TestSignUpsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SignUps, func(c *config.Config) { c.Limits.SignInsPerClient = 2 })
	b := a.Browser(servertest.Far(1))
	for range 2 {
		b.Post("/users/sign_up", "email", servertest.AnnEmail, "password", "x").Want(http.StatusUnprocessableEntity) // it costs nothing, and counts for nothing
		b.Post("/users/sign_up", "email", servertest.AnnEmail, "password", "a good password").To("/users/sign_in")
	}
	good := func(b *servertest.Browser) servertest.Answer {
		return b.Post("/users/sign_up", "email", "eve@example.com", "password", "a good password")
	}
	got := good(b).Want(http.StatusTooManyRequests).Says("too many tries")
	if got.Header.Get("Retry-After") != "20" {
		t.Errorf("Retry-After %s", got.Header.Get("Retry-After"))
	}
	good(a.Browser(servertest.Far(2))).To("/users/sign_in")
	a.Store.Clock.Advance(20*time.Second - 1)
	good(b).Want(http.StatusTooManyRequests)
	a.Store.Clock.Advance(1)
	good(b).To("/users/sign_in")
}

func TestABadPatternForAddressesIsAnError(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	cfg := config.Default()
	cfg.SignupEmailRegexp = "("
	_, err := server.New(server.Options{Config: cfg, Store: a.Store.Store, Log: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "signup_email_regexp") {
		t.Errorf("the error is %v", err)
	}
}
