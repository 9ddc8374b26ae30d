package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

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
