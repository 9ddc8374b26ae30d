package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
)

func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b, other := a.signedIn(annEmail, annPassword), a.signedIn(annEmail, annPassword)
	const changed = "another good password"
	b.post("/users/password", "old", annPassword, "new", changed, "again", changed).to("/users/password?done=1")
	b.get("/users/password?done=1").want(http.StatusOK).says("Your password was changed.")
	other.get("/users/sessions").to("/users/sign_in")
	a.browser().signIn(annEmail, annPassword).want(http.StatusForbidden)
	a.signedIn(annEmail, changed)
}

func TestAPasswordThatCannotBe(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b, other := a.signedIn(annEmail, annPassword), a.signedIn(annEmail, annPassword)
	const good = "another good password"
	for name, test := range map[string]struct {
		old, new, again string
		status          int
		says            string
	}{
		"the old one is wrong":  {"not it", good, good, 403, "That is not your current password."},
		"the old one is empty":  {"", good, good, 403, "That is not your current password."},
		"two new ones":          {annPassword, good, good + "x", 422, "The two new passwords are not the same."},
		"the new one is short":  {annPassword, "nine char", "nine char", 422, "at least 10 characters"},
		"the new one is long":   {annPassword, strings.Repeat("x", 1025), strings.Repeat("x", 1025), 422, "at most 1024 bytes"},
		"nothing was filled in": {"", "", "", 422, "at least 10 characters"},
	} {
		got := b.post("/users/password", "old", test.old, "new", test.new, "again", test.again)
		if got.status != test.status {
			t.Errorf("%s: %d", name, got.status)
		}
		got.says(test.says)
		for _, field := range []string{"old", "new", "again"} {
			if got.inputs(field)[0] != "" {
				t.Errorf("%s: %s comes back", name, field)
			}
		}
	}
	other.get("/users/sessions").want(http.StatusOK)
	a.signedIn(annEmail, annPassword)
}

func TestTriesAtTheOldPasswordAreLimited(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	b := a.signedIn(annEmail, annPassword)
	const good = "another good password"
	for range 2 {
		b.post("/users/password", "old", "wrong", "new", good, "again", good).want(http.StatusForbidden)
	}
	got := b.post("/users/password", "old", annPassword, "new", good, "again", good).want(http.StatusTooManyRequests).says("too many tries")
	if got.header.Get("Retry-After") != "3600" {
		t.Errorf("Retry-After %s", got.header.Get("Retry-After"))
	}
	a.store.Clock.Advance(time.Hour)
	b.post("/users/password", "old", annPassword, "new", good, "again", good).to("/users/password?done=1")
}
