package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
)

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

func TestATokenIsMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	b.get("/users/token").want(http.StatusOK).says("You have none.")
	made := b.post("/users/token", "label", `Backup <b> & "more"`, "days", "30").want(http.StatusCreated)
	made.says(`Backup <b> & "more"`).says("2026-01-31 00:00 UTC")
	token := made.inner("token")
	list := b.get("/users/token").want(http.StatusOK).says(`Backup <b> & "more"`).says("2026-01-31 00:00 UTC")
	if strings.Contains(list.body, "<b>") || strings.Contains(list.body, token) {
		t.Error(list.body)
	}
	a.store.Clock.Advance(time.Hour)
	a.get(pushes+"/active", bearer(token)).want(http.StatusOK)
	b.get("/users/token").says("2026-01-01 01:00 UTC")
	id := list.inputs("id")[0]
	b.post("/users/token/revoke", "id", id).to("/users/token")
	a.get(pushes+"/active", bearer(token)).want(http.StatusUnauthorized)
	b.get("/users/token").says("You have none.")
	for _, gone := range []string{id, "0", "-1", "x", "", "99999999999999999999"} {
		b.post("/users/token/revoke", "id", gone).to("/users/token")
	}
}

func TestHowLongATokenWorks(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	ends := map[string]string{"30": "2026-01-31", "90": "2026-04-01", "365": "2027-01-01", "0": "until you revoke it"}
	for days, want := range ends {
		b.post("/users/token", "label", "", "days", days).want(http.StatusCreated).says(want).says("No label")
	}
	for _, days := range []string{"", "1", "31", "-30", "30.0", "x", "9999999999"} {
		got := b.post("/users/token", "label", "kept", "days", days).want(http.StatusUnprocessableEntity).says("Choose one of these.")
		if got.inputs("label")[0] != "kept" {
			t.Errorf("%q: the label is gone", days)
		}
	}
}

func TestATokenThatEndedIsMarked(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.Sessions.IdleTimeout, c.Sessions.MaxAge = 60*day, 60*day })
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/token", "days", "30")
	a.store.Clock.Advance(30*day - time.Second)
	if b.get("/users/token").shows("Ended") {
		t.Error("too early")
	}
	a.store.Clock.Advance(time.Second)
	b.get("/users/token").says("Ended")
}

func TestTheLabelOfAToken(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/token", "label", strings.Repeat("x", 100), "days", "0").want(http.StatusCreated)
	for _, label := range []string{strings.Repeat("x", 101), "a\x00b"} {
		got := b.post("/users/token", "label", label, "days", "365").want(http.StatusUnprocessableEntity)
		got.inner("label-error")
		if !strings.Contains(got.body, `<option value="365" selected>`) {
			t.Error("the choice is gone")
		}
	}
}

func TestTheExampleHasTheAddressOfTheServer(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	b.get("/users/token").says(a.url + "/api/v2/pushes")
	b.post("/users/token", "days", "0").says(a.url + "/api/v2/pushes")
	named := newSite(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	named.signedIn(annEmail, annPassword).get("/users/token").says("https://push.example.com/api/v2/pushes")
}

func TestTokensOfOthersAreNotTouched(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	a.person("bob@example.com", annPassword)
	b, bob := a.signedIn(annEmail, annPassword), a.signedIn("bob@example.com", annPassword)
	token := b.post("/users/token", "label", "mine", "days", "0").inner("token")
	id := b.get("/users/token").inputs("id")[0]
	if bob.get("/users/token").shows("mine") {
		t.Error("another sees it")
	}
	bob.post("/users/token/revoke", "id", id).to("/users/token")
	a.get(pushes+"/active", bearer(token)).want(http.StatusOK)
}
