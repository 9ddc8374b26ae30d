package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/server"
	"pushbox/server/action"
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
	got := good(b).Want(http.StatusTooManyRequests).Says("Too many attempts")
	if got.Header.Get("Retry-After") != "20" {
		t.Errorf("Retry-After %s", got.Header.Get("Retry-After"))
	}
	good(a.Browser(servertest.Far(2))).To("/users/sign_in")
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

func TestTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	b, firstPath := a.Browser(), a.FirstPath()
	b.Get(firstPath).Want(http.StatusOK).Says("The first account")
	b.Post(firstPath, "email", "not-an-address", "password", "short").Want(http.StatusUnprocessableEntity).Inner("password-error")
	b.Post(firstPath, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	b.Get("/users/sessions").Want(http.StatusOK).Says(servertest.AnnEmail)
	b.Get(firstPath).Want(http.StatusNotFound).Says("This page works only once")
	b.Post(firstPath, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	a.Browser().SignIn("eve@example.com", servertest.AnnPassword).Want(http.StatusForbidden)
}

func TestOnlyOneOfTwoCanMakeTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	firstPath := a.FirstPath()
	statuses := make(chan int, 4)
	for i := range cap(statuses) {
		go func() {
			statuses <- a.Browser().Post(firstPath, "email", string(rune('a'+i))+"@example.com", "password", servertest.AnnPassword).Status
		}()
	}
	told := make(map[int]int)
	for range cap(statuses) {
		told[<-statuses]++
	}
	env.Equal(t, "first accounts", told[http.StatusSeeOther], 1)
	env.Equal(t, "those who came too late", told[http.StatusNotFound], cap(statuses)-1)
}

// It is good at each server, and at none once one of them has made the account.
func TestServersHaveOneCodeForTheFirstAccount(t *testing.T) {
	t.Parallel()
	one := servertest.On(t, storetest.Postgres(t))
	other := one.Beside()
	path := one.FirstPath()
	other.Browser().Get(path).Want(http.StatusOK)
	other.Browser().Post(path, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	one.Browser().Get(path).Want(http.StatusNotFound)
	one.Browser().Post(path, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
}

func TestGuessingTheCodeOfTheFirstAccountIsLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.UnknownTokensPerMinute = 3 })
	b := a.Browser(servertest.Far(1))
	firstPath := a.FirstPath()
	for _, wrong := range []string{action.FirstPath + "x", firstPath + "x", firstPath[:len(firstPath)-1]} {
		b.Get(wrong).Want(http.StatusNotFound)
	}
	b.Get(action.FirstPath + "x").Want(http.StatusTooManyRequests)
	b.Post(action.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusTooManyRequests)
	a.Browser(servertest.Far(2)).Get(action.FirstPath + "x").Want(http.StatusNotFound)
	a.Store.Clock.Advance(time.Minute)
	b.Get(firstPath).Want(http.StatusOK)
	b.Post(action.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusNotFound)
}

func TestTheFirstAccountIsMadeEvenIfItCannotSignInAtOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.SignInsPerClient = 1 })
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	b.Post(a.FirstPath(), "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/users/sign_in")
	a.Store.Clock.Advance(20 * time.Second)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}
