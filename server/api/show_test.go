package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

func TestTheLastViewAndAfter(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":1`)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "x", "expired": "false", "expired_on": "null", "views_remaining": "0"})
	for range 2 {
		a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{
			"payload": "null", "files": "[]", "expired": "true", "deleted": "false", "views_remaining": "0", "days_remaining": "0",
		})
	}
}

func TestADeletedPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	for range 2 {
		a.Do("DELETE", pushes+"/"+token, "").Want(http.StatusOK).Has(map[string]string{
			"expired": "true", "deleted": "true", "expired_on": "2026-01-01T00:00:00.000Z", "views_remaining": "5",
		})
		a.Store.Clock.Advance(time.Minute)
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "null", "expired": "true", "deleted": "true"})
	a.Get(pushes + "/" + token + "/preview").Want(http.StatusOK).Has(map[string]string{"url": a.URL + "/p/" + token + "/r"})
}

func TestUnknownMalformedAndPurgedAreTheSame(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	purged := a.Create(`"payload":"x","expire_after_days":1`)
	a.Store.Clock.Advance(3 * day)
	a.Store.SweepAll()
	tokens := []string{purged, store.NewToken(a.Store.Clock.Now()).Reveal(), "x", strings.Repeat("a", 34), strings.Repeat("0", 34), strings.Repeat("a", 5000), "%00", "..%5c"}
	for _, tail := range []string{"", "?passphrase=p", "/preview", "/audit", "/audit?page=2"} {
		bodies := make(map[string]bool)
		for _, token := range tokens {
			a.Store.Clock.Advance(time.Minute) // past the limit of guessing
			got := a.Get(pushes+"/"+token+tail, ann).Want(http.StatusNotFound)
			got.Header.Del("Date")
			bodies[got.Body+fmt.Sprint(got.Header)] = true
		}
		if len(bodies) != 1 {
			t.Errorf("%q: they are told apart: %v", tail, bodies)
		}
	}
	if got := a.Get(pushes + "/" + purged); got.Body != `{"error":"not-found","code":"not-found","message":"There is nothing at this address."}`+"\n" {
		t.Errorf("it is %s", got.Body)
	}
}

func TestAPassphrase(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const p = "päss wörd&+%"
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, ask := range map[string]func(path string) servertest.Answer{
		"query":  func(path string) servertest.Answer { return a.Get(path + "?passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25") },
		"header": func(path string) servertest.Answer { return a.Get(path, http.Header{"X-Push-Passphrase": {p}}) },
		"form": func(path string) servertest.Answer {
			return a.Do("GET", path, "passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25", form)
		},
		"JSON": func(path string) servertest.Answer { return a.Do("GET", path, `{"passphrase":"p\u00e4ss wörd&+%"}`) },
		"JSON, in version 1": func(path string) servertest.Answer {
			return a.Do("GET", "/p"+strings.TrimPrefix(path, pushes)+".json", `{"x":{"passphrase":"no"},"passphrase":"`+p+`"}`)
		},
	} {
		path := pushes + "/" + a.Create(`"payload":"x","passphrase":"`+p+`"`)
		for _, wrong := range []servertest.Answer{a.Get(path), a.Get(path + "?passphrase=wrong"), a.Get(path, http.Header{"X-Push-Passphrase": {"wrong"}})} {
			wrong.Want(http.StatusUnauthorized)
			if wrong.Problem() != "passphrase" || wrong.Text("error") != "That passphrase is incorrect." || wrong.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %s %v", name, wrong.Body, wrong.Header)
			}
		}
		ask(path).Want(http.StatusOK).Has(map[string]string{"payload": "x", "views_remaining": "4", "passphrase": "null", "passphrase_protected": "true"})
	}
}

func TestABodyOfARetrievalIsReadLikeAnyOther(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	path := pushes + "/" + a.Create(`"payload":"x","passphrase":"1234"`)
	long := `{"x":"` + strings.Repeat("x", 64<<10) + `","passphrase":"1234"}`
	for body, want := range map[string]int{
		`{"passphrase":1234}`:                    http.StatusOK,
		`{"passphrase":"1235"}`:                  http.StatusUnauthorized,
		`{"passphrase":null}`:                    http.StatusUnauthorized,
		`{"passphrase":["1234"]}`:                http.StatusUnauthorized,
		`{"push":{"passphrase":"1234"}}`:         http.StatusUnauthorized,
		`["passphrase","1234"]`:                  http.StatusUnauthorized,
		`null`:                                   http.StatusUnauthorized,
		`{"passphrase":"1","passphrase":"1234"}`: http.StatusBadRequest,
		`{"passphrase":"1234"`:                   http.StatusBadRequest,
		`{"passphrase":"` + strings.Repeat("x", store.MaxPassphrase+1) + `"}`: http.StatusBadRequest,
		long: http.StatusUnauthorized, // by its length it is not read
	} {
		if got := a.Do("GET", path, body); got.Status != want {
			t.Errorf("%.40s: %d, not %d: %s", body, got.Status, want, got.Body)
		}
		a.Store.Clock.Advance(time.Minute) // past the limit of guessing
	}
}

func TestABlankPassphraseIsNone(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, blank := range []string{`""`, `" "`, `null`} {
		token := a.Create(`"payload":"x","passphrase":` + blank)
		a.Get(pushes + "/" + token + "?passphrase=ignored").Want(http.StatusOK).Has(map[string]string{"passphrase_protected": "false"})
	}
}

func TestAnExpiredPushAsksForNoPassphrase(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","passphrase":"p"`)
	a.Do("DELETE", pushes+"/"+token, "").Want(http.StatusOK)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"expired": "true", "payload": "null"})
}

func TestWrongPassphrasesAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	path := pushes + "/" + a.Create(`"payload":"x","passphrase":"p"`)
	for range 6 {
		a.Get(path).Want(http.StatusUnauthorized) // none at all is not a guess
	}
	for range 5 {
		a.Get(path + "?passphrase=wrong").Want(http.StatusUnauthorized)
	}
	got := a.Get(path + "?passphrase=p").Want(http.StatusTooManyRequests)
	if got.Problem() != "too-many-requests" || got.Header.Get("Retry-After") != "60" {
		t.Errorf("%s, Retry-After %q", got.Body, got.Header.Get("Retry-After"))
	}
	a.Store.Clock.Advance(time.Minute)
	a.Get(path + "?passphrase=p").Want(http.StatusOK)
}

func TestAJumpOfTheClockIsA503(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	a.Store.Clock.Jump(30 * day)
	for _, got := range []servertest.Answer{a.Get(pushes + "/" + token), a.Do("POST", pushes, `{"push":{"payload":"x"}}`)} {
		got.Want(http.StatusServiceUnavailable)
		if got.Problem() != "unavailable" || got.Header.Get("Retry-After") != "60" {
			t.Errorf("%s %v", got.Body, got.Header)
		}
	}
	a.Store.Clock.Jump(-30 * day)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
}
