package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestATokenIsMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Get("/users/token").Want(http.StatusOK).Says("No tokens yet.")
	made := b.Post("/users/token", "password", servertest.AnnPassword, "label", `Backup <b> & "more"`, "days", "30").Want(http.StatusCreated)
	made.Says(`Backup <b> & "more"`).Says("2026-01-31 00:00 UTC")
	token := made.Inner("token")
	list := b.Get("/users/token").Want(http.StatusOK).Says(`Backup <b> & "more"`).Says("2026-01-31 00:00 UTC")
	if strings.Contains(list.Body, "<b>") || strings.Contains(list.Body, token) {
		t.Error(list.Body)
	}
	id := list.Inputs("id")[0]
	a.AddAccount(bobEmail, servertest.AnnPassword)
	bob := a.SignedIn(bobEmail, servertest.AnnPassword)
	bob.Get("/users/token").Says("No tokens yet.")
	bob.Post("/users/token/revoke", "id", id).To("/users/token")
	a.Store.Clock.Advance(time.Hour)
	a.Get(pushes+"/active", servertest.Bearer(token)).Want(http.StatusOK)
	b.Get("/users/token").Says("2026-01-01 01:00 UTC")
	b.Post("/users/token/revoke", "id", id).To("/users/token")
	a.Get(pushes+"/active", servertest.Bearer(token)).Want(http.StatusUnauthorized)
	b.Get("/users/token").Says("No tokens yet.")
	for _, gone := range []string{id, "0", "-1", "x", "", "99999999999999999999"} {
		b.Post("/users/token/revoke", "id", gone).To("/users/token")
	}
}

func TestHowLongATokenWorks(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ends := map[string]string{"30": "2026-01-31", "90": "2026-04-01", "365": "2027-01-01", "0": "until you revoke it"}
	for days, want := range ends {
		b.Post("/users/token", "password", servertest.AnnPassword, "label", "", "days", days).Want(http.StatusCreated).Says(want).Says("No label")
	}
	for _, days := range []string{"", "1", "31", "-30", "30.0", "x", "9999999999"} {
		got := b.Post("/users/token", "password", servertest.AnnPassword, "label", "kept", "days", days).Want(http.StatusUnprocessableEntity).Says("Choose one of these.")
		if got.Inputs("label")[0] != "kept" {
			t.Errorf("%q: the label is gone", days)
		}
	}
}

func TestATokenTakesThePassword(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	got := b.Post("/users/token", "label", "kept", "days", "0", "password", "wrong").Want(http.StatusForbidden).Says("That is not your password.")
	if got.Inputs("label")[0] != "kept" || got.Inputs("password")[0] != "" {
		t.Error(got.Body)
	}
	b.Post("/users/token", "days", "0").Want(http.StatusForbidden)
	b.Get("/users/token").Says("No tokens yet.")
}

func TestAnAccountHasNoMoreTokensThanItMay(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	for range record.MaxTokens {
		if _, err := a.Store.CreateToken(ctx, storetest.Operator, servertest.AnnEmail, store.TokenTerms{}); err != nil {
			t.Fatal(err)
		}
	}
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/token", "password", servertest.AnnPassword, "days", "0").Want(http.StatusUnprocessableEntity).Says("This account has 25 tokens")
}

func TestATokenHasTheScopeThatWasChosen(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	token := b.Post("/users/token", "password", servertest.AnnPassword, "days", "0", "scope", "create").Want(http.StatusCreated).Inner("token")
	b.Get("/users/token").Says("create")
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, servertest.Bearer(token)).Want(http.StatusCreated)
	a.Get(pushes+"/active", servertest.Bearer(token)).Want(http.StatusForbidden)
	b.Post("/users/token", "password", servertest.AnnPassword, "days", "0", "scope", "everything").Want(http.StatusUnprocessableEntity)
}

func TestATokenThatEndedIsMarked(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Sessions.IdleTimeout, c.Sessions.MaxAge = 60*day, 60*day })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/token", "password", servertest.AnnPassword, "days", "30")
	a.Store.Clock.Advance(30*day - time.Second)
	if b.Get("/users/token").Shows("Expired") {
		t.Error("too early")
	}
	a.Store.Clock.Advance(time.Second)
	b.Get("/users/token").Says("Expired")
}

func TestTheLabelOfAToken(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/token", "password", servertest.AnnPassword, "label", strings.Repeat("x", 100), "days", "0").Want(http.StatusCreated)
	for _, label := range []string{strings.Repeat("x", 101), "a\x00b"} {
		got := b.Post("/users/token", "password", servertest.AnnPassword, "label", label, "days", "365").Want(http.StatusUnprocessableEntity)
		got.Inner("label-error")
		if !strings.Contains(got.Body, `<option value="365" selected>`) {
			t.Error("the choice is gone")
		}
	}
}

func TestTheExampleHasTheAddressOfTheServer(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Get("/users/token").Says(a.URL + "/api/v2/pushes")
	b.Post("/users/token", "password", servertest.AnnPassword, "days", "0").Says(a.URL + "/api/v2/pushes")
	named := servertest.NewSite(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	named.SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/users/token").Says("https://push.example.com/api/v2/pushes")
}
