package api_test

import (
	"net/http"
	"testing"
	"time"

	"pushbox/server/servertest"
)

func TestAPushWithTimes(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	made := map[string]string{
		"expires_at": "2026-01-03T16:30:00.000Z", "expire_after_days": "3", "days_remaining": "3",
		"open_from": "2026-01-02T08:00:00.000Z", "close_after_first_view": "3",
	}
	const members = `"payload":"x","passphrase":"p","expires_at":"2026-01-03T17:30:00+01:00","open_from":"2026-01-02T08:00:00Z","close_after_first_view":3`
	got := a.Do("POST", pushes, `{"push":{`+members+`,"expire_after_days":90}}`).Want(http.StatusCreated).Has(made)
	token := got.Text("url_token")
	a.Do("POST", pushes, "push[payload]=x&push[expires_at]=2026-01-03T16:30:00Z&push[open_from]=2026-01-02T09:00:00%2B01:00&push[close_after_first_view]=3",
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}).Want(http.StatusCreated).Has(made)

	before := a.Trace(token)
	for _, passphrase := range []string{"", "p", "wrong"} {
		early := a.Get(pushes+"/"+token, http.Header{"X-Push-Passphrase": {passphrase}}).Want(http.StatusForbidden)
		early.Has(map[string]string{"code": "not-yet", "error": "This push opens at 2026-01-02T08:00:00Z. No view was counted, and no passphrase was tried."})
		if after := early.Header.Get("Retry-After"); after != "115200" {
			t.Errorf("Retry-After is %q", after)
		}
	}
	if after := a.Trace(token); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
	a.Store.Clock.Advance(32*time.Hour - time.Millisecond)
	a.Get(pushes + "/" + token + "?passphrase=p").Want(http.StatusForbidden)
	a.Store.Clock.Advance(time.Millisecond)
	a.Get(pushes + "/" + token + "?passphrase=wrong").Want(http.StatusUnauthorized)
	first := map[string]string{"payload": "x", "expires_at": "2026-01-02T09:00:00.000Z", "views_remaining": "4", "expire_after_days": "2"}
	a.Get(pushes + "/" + token + "?passphrase=p").Want(http.StatusOK).Has(first)
	a.Store.Clock.Advance(time.Hour - time.Millisecond)
	a.Get(pushes + "/" + token + "?passphrase=p").Want(http.StatusOK).Has(map[string]string{"payload": "x", "expires_at": first["expires_at"]})
	a.Store.Clock.Advance(time.Millisecond)
	a.Get(pushes + "/" + token + "?passphrase=p").Want(http.StatusOK).Has(map[string]string{"payload": "null", "expired_on": first["expires_at"], "views_remaining": "3"})
}

func TestTimesThatAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const form = "must be a time with its zone, such as 2026-12-31T17:00:00+01:00 (RFC 3339)"
	for members, want := range map[string][2]string{
		`"expires_at":"2026-01-02"`:               {"expires_at", form},
		`"expires_at":"2026-01-02T08:00:00"`:      {"expires_at", form},
		`"expires_at":"tomorrow"`:                 {"expires_at", form},
		`"expires_at":1767312000`:                 {"expires_at", "must be a text"},
		`"expires_at":"2026-01-01T00:00:00Z"`:     {"expires_at", "must be in the future"},
		`"expires_at":"2026-04-01T00:00:00.001Z"`: {"expires_at", "must be between 1 and 90 days from now"},
		`"expires_at":"9999-12-31T23:59:59Z"`:     {"expires_at", "must be between 1 and 90 days from now"},
		`"open_from":"2026-01-02 08:00"`:          {"open_from", form},
		`"open_from":"2025-12-31T23:00:00Z"`:      {"open_from", "must be in the future, and before the push expires"},
		`"open_from":"2026-01-08T00:00:00Z"`:      {"open_from", "must be in the future, and before the push expires"},
		`"close_after_first_view":18`:             {"close_after_first_view", "must be a code between 0 and 17"},
		`"close_after_first_view":"1h"`:           {"close_after_first_view", "must be a whole number"},
	} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x",`+members+`}}`).Want(http.StatusUnprocessableEntity)
		if want := `{"` + want[0] + `":[` + servertest.Quoted(want[1]) + "]}\n"; got.Body != want {
			t.Errorf("%s: %s", members, got.Body)
		}
	}
	for _, members := range []string{`"expires_at":"","open_from":null,"close_after_first_view":""`, `"expires_at":"2026-04-01T00:00:00+00:00"`} {
		a.Do("POST", pushes, `{"push":{"payload":"x",`+members+`}}`).Want(http.StatusCreated)
	}
}
