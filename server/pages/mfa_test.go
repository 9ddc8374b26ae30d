package pages_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

func TestASecondFactor(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	totpSecret, recovery := b.EnableMFA()
	slices.Sort(recovery)
	if len(slices.Compact(recovery)) != 10 {
		t.Errorf("recovery codes: %d", len(recovery))
	}
	b.Get("/users/mfa").Want(http.StatusOK).Says("Two-factor sign-in is on.")
	again := a.Browser()
	again.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	again.Post("/users/sign_in/code", "code", a.Code(totpSecret, -1)).Want(http.StatusForbidden) // used before
	again.Post("/users/sign_in/code", "code", " "+a.Code(totpSecret, 0)[:3]+" "+a.Code(totpSecret, 0)[3:]).To("/")
	again.Get("/users/mfa").Want(http.StatusOK)
}

// A user who mistypes a code has the secret in the app already.
func TestAWrongCodeOffersTheSameSecretAgain(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	qr := func(r servertest.Answer) string {
		return regexp.MustCompile(`class="qr-dark" d="([^"]+)"`).FindString(r.Body)
	}
	first := b.Get("/users/mfa").Want(http.StatusOK)
	totpSecret := first.Inner("secret")
	if other := b.Get("/users/mfa"); other.Inner("secret") == totpSecret || qr(other) == qr(first) {
		t.Error("two offers are the same")
	}
	got := b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", totpSecret, "code", "000000").Want(http.StatusForbidden).Says("The password or the code is wrong.")
	if got.Inner("secret") != totpSecret || got.Inputs("secret")[0] != totpSecret || qr(got) != qr(first) || qr(got) == "" {
		t.Error("another one is offered")
	}
	b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", totpSecret, "code", a.Code(totpSecret, 0)).Want(http.StatusOK)
	b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", totpSecret, "code", a.Code(totpSecret, 1)).To("/users/mfa") // it is on
}

func TestNewRecoveryCodesReplaceTheOld(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/mfa/codes", "password", servertest.AnnPassword).To("/users/mfa") // there is no second factor
	_, old := b.EnableMFA()
	for password, code := range map[string]string{"wrong": old[1], servertest.AnnPassword: ""} { // with the password alone, factors would be worth no more than it
		b.Post("/users/mfa/codes", "password", password, "code", code).Want(http.StatusForbidden).Says("The password or the code is wrong.")
	}
	recovery := servertest.RecoveryCodes(b.Post("/users/mfa/codes", "password", servertest.AnnPassword, "code", old[1]).Want(http.StatusOK).Says("take the place of the old ones"))
	b = a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Post("/users/sign_in/code", "code", old[0]).Want(http.StatusForbidden)
	b.Post("/users/sign_in/code", "code", recovery[0]).To("/")
}

func TestASecondFactorIsTurnedOff(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	_, recovery := b.EnableMFA()
	for password, code := range map[string]string{"wrong": recovery[0], servertest.AnnPassword: ""} {
		b.Post("/users/mfa/off", "password", password, "code", code).Want(http.StatusForbidden).Says("The password or the code is wrong.")
	}
	a.Browser().SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Post("/users/mfa/off", "password", servertest.AnnPassword, "code", recovery[0]).To("/users/mfa")
	b.Get("/users/mfa").Says("Two-factor sign-in is off.").Inner("secret")
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
}

func TestARequiredSecondFactor(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for _, path := range []string{"/", "/p", "/users/token", "/users/password", "/users/sessions"} {
		b.Get(path).To("/users/mfa")
	}
	b.Post("/users/token", "password", servertest.AnnPassword, "days", "0").To("/users/mfa")
	b.Post("/users/mfa/codes", "password", servertest.AnnPassword).To("/users/mfa")
	b.Get("/users/mfa").Want(http.StatusOK).Says("This server requires two-factor sign-in. Set it up to continue.")
	a.Get(pushes+"/active", a.AddTokenUser("bob@example.com")).Want(http.StatusForbidden)
	b.EnableMFA()
	b.Get("/users/token").Want(http.StatusOK)
	on := b.Get("/users/mfa").Want(http.StatusOK).Says("you cannot turn it off")
	if on.Shows("/users/mfa/off") {
		t.Error("the page offers to turn it off")
	}
	b.Post("/users/mfa/off", "password", servertest.AnnPassword).Want(http.StatusForbidden).Says("you cannot turn it off")
	a.Browser().SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Post("/users/sign_out").To("/users/sign_in")
}

func TestAnAccountThatStillNeedsASecondFactorMaySignOut(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/sign_out").To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK)
}

func TestOnlyAValidSecretIsAccepted(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for _, bad := range []string{"", "x", "AAAA", `"><script>alert(1)</script>`} {
		got := b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", bad, "code", "000000").Want(http.StatusUnprocessableEntity)
		if bad != "" && got.Shows(`alert(1)`) {
			t.Error(got.Body)
		}
	}
	b.Get("/users/mfa").Want(http.StatusOK).Inner("secret")
}

func requireMFA(from string) func(*config.Config) {
	return func(c *config.Config) { c.RequireMFA, c.RequireMFATokensFrom = true, from }
}

func TestATokenOfAnAccountWithoutASecondFactorIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, requireMFA(""))
	ann := a.AddToken(servertest.AnnEmail)
	push := pushes + "/" + a.Create(`"payload":"x"`)
	for _, test := range []struct{ method, path string }{
		{"GET", pushes + "/active"}, {"POST", pushes}, {"GET", push}, {"GET", push + "/preview"}, {"DELETE", push},
	} {
		got := a.Do(test.method, test.path, "", ann).Want(http.StatusForbidden)
		if got.Problem() != "mfa-required" || !strings.HasPrefix(got.Text("error"), "Two-factor authentication is required. Please set it up to continue") || !strings.Contains(got.Text("error"), "/users/mfa") {
			t.Errorf("%s %s: %s", test.method, test.path, got.Body)
		}
	}
	a.Get("/api/v2/version", ann).Want(http.StatusOK)
	a.Get(push).Want(http.StatusOK).Has(map[string]string{"views_remaining": "4"})
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	a.Get(pushes+"/active", ann).Want(http.StatusOK)
}

func TestTokensHaveUntilADay(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, requireMFA("2026-01-03"))
	ann := a.AddToken(servertest.AnnEmail)
	a.Store.Clock.Advance(2*24*time.Hour - time.Millisecond)
	a.Get(pushes+"/active", ann).Want(http.StatusOK)
	a.Store.Clock.Advance(time.Millisecond)
	a.Get(pushes+"/active", ann).Want(http.StatusForbidden)
}

// The page says since when a factor is on, where the record has that.
func TestAFactorSaysSinceWhenItIsOn(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Get("/users/mfa").Want(http.StatusOK).Lacks("On since")
	b.EnableMFA()
	one := account(t, a, 1)
	if now := a.Store.Clock.Now(); one.TOTPSince.UnixMilli() != now.UnixMilli() {
		t.Errorf("since %v, at %v", one.TOTPSince, now)
	}
	b.Get("/users/mfa").Want(http.StatusOK).Says(`On since <time datetime="` + one.TOTPSince.UTC().Format(time.RFC3339))
	env.OK(t, a.Store.ResetFactors(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail))
	if one := account(t, a, 1); !one.TOTPSince.IsZero() {
		t.Errorf("since %v, without an app", one.TOTPSince)
	}
}
