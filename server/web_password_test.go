package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b, other := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const changed = "another good password"
	b.Post("/users/password", "old", servertest.AnnPassword, "new", changed, "again", changed).To("/users/password")
	b.Get("/users/password").Want(http.StatusOK).Says("Your password was changed.")
	other.Get("/users/sessions").To("/users/sign_in")
	a.Browser().SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	a.SignedIn(servertest.AnnEmail, changed)
}

func TestAnInvalidPasswordIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b, other := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const good = "another good password"
	for name, test := range map[string]struct {
		old, new, again string
		status          int
		says            string
	}{
		"the old one is wrong":  {"not it", good, good, 403, "That is not your current password."},
		"the old one is empty":  {"", good, good, 403, "That is not your current password."},
		"two new ones":          {servertest.AnnPassword, good, good + "x", 422, "The two new passwords are not the same."},
		"the new one is short":  {servertest.AnnPassword, "nine char", "nine char", 422, "at least 10 characters"},
		"the new one is long":   {servertest.AnnPassword, strings.Repeat("x", 1025), strings.Repeat("x", 1025), 422, "at most 1024 bytes"},
		"nothing was filled in": {"", "", "", 422, "at least 10 characters"},
	} {
		got := b.Post("/users/password", "old", test.old, "new", test.new, "again", test.again)
		if got.Status != test.status {
			t.Errorf("%s: %d", name, got.Status)
		}
		got.Says(test.says)
		for _, field := range []string{"old", "new", "again"} {
			if got.Inputs(field)[0] != "" {
				t.Errorf("%s: %s comes back", name, field)
			}
		}
	}
	other.Get("/users/sessions").Want(http.StatusOK)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
}

func TestWrongOldPasswordsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const good = "another good password"
	for range 2 {
		b.Post("/users/password", "old", "wrong", "new", good, "again", good).Want(http.StatusForbidden)
	}
	got := b.Post("/users/password", "old", servertest.AnnPassword, "new", good, "again", good).Want(http.StatusTooManyRequests).Says("too many tries")
	if got.Header.Get("Retry-After") != "3600" {
		t.Errorf("Retry-After %s", got.Header.Get("Retry-After"))
	}
	a.Store.Clock.Advance(time.Hour)
	b.Post("/users/password", "old", servertest.AnnPassword, "new", good, "again", good).To("/users/password")
}
