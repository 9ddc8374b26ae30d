package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/store"
)

func TestTheLastViewAndAfter(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":1`)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x", "expired": "false", "expired_on": "null", "views_remaining": "0"})
	for range 2 {
		a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{
			"payload": "null", "files": "[]", "expired": "true", "deleted": "false", "views_remaining": "0", "days_remaining": "0",
		})
	}
}

func TestADeletedPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	for range 2 {
		a.do("DELETE", pushes+"/"+token, "").want(http.StatusOK).has(map[string]string{
			"expired": "true", "deleted": "true", "expired_on": "2026-01-01T00:00:00.000Z", "views_remaining": "5",
		})
		a.store.Clock.Advance(time.Minute)
	}
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "null", "expired": "true", "deleted": "true"})
	a.get(pushes + "/" + token + "/preview").want(http.StatusOK).has(map[string]string{"url": a.url + "/p/" + token + "/r"})
}

func TestWhoMayDelete(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	kept := a.create(`"payload":"x","deletable_by_viewer":false`, ann)
	if a.do("DELETE", pushes+"/"+kept, "").want(http.StatusUnauthorized).problem() != "unauthorized" {
		t.Error("another text for nobody")
	}
	if a.do("DELETE", pushes+"/"+kept, "", bob).want(http.StatusForbidden).problem() != "forbidden" {
		t.Error("another text for a stranger")
	}
	a.do("DELETE", pushes+"/"+kept, "", ann).want(http.StatusOK)
	free := a.create(`"payload":"x","deletable_by_viewer":true`, ann)
	a.do("DELETE", pushes+"/"+free, "", bob).want(http.StatusOK)
}

func TestUnknownMalformedAndPurgedAreTheSame(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	purged := a.create(`"payload":"x","expire_after_days":1`)
	a.store.Clock.Advance(3 * day)
	a.store.SweepAll()
	tokens := []string{purged, store.NewToken(a.store.Clock.Now()).Reveal(), "x", strings.Repeat("a", 34), strings.Repeat("0", 34), strings.Repeat("a", 5000), "%00", "..%2f"}
	for _, tail := range []string{"", "?passphrase=p", "/preview", "/audit", "/audit?page=2"} {
		bodies := make(map[string]bool)
		for _, token := range tokens {
			a.store.Clock.Advance(time.Minute) // past the limit of guessing
			got := a.get(pushes+"/"+token+tail, ann).want(http.StatusNotFound)
			got.header.Del("Date")
			bodies[got.body+fmt.Sprint(got.header)] = true
		}
		if len(bodies) != 1 {
			t.Errorf("%q: they are told apart: %v", tail, bodies)
		}
	}
	if got := a.get(pushes + "/" + purged); got.body != `{"error":"not-found","message":"There is nothing at this address."}`+"\n" {
		t.Errorf("it is %s", got.body)
	}
}

func TestTheOwnersOwnRetrieval(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	token := a.create(`"payload":"x","passphrase":"p","expire_after_views":1`, ann)
	a.get(pushes+"/"+token, ann).want(http.StatusUnauthorized)
	for range 2 {
		a.get(pushes+"/"+token+"?passphrase=p", ann).want(http.StatusOK).has(map[string]string{"payload": "x", "views_remaining": "1"})
	}
}

func TestAPassphrase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const p = "päss wörd&+%"
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, ask := range map[string]func(path string) answer{
		"query":  func(path string) answer { return a.get(path + "?passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25") },
		"header": func(path string) answer { return a.get(path, http.Header{"X-Push-Passphrase": {p}}) },
		"form":   func(path string) answer { return a.do("GET", path, "passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25", form) },
	} {
		path := pushes + "/" + a.create(`"payload":"x","passphrase":"`+p+`"`)
		for _, wrong := range []answer{a.get(path), a.get(path + "?passphrase=wrong"), a.get(path, http.Header{"X-Push-Passphrase": {"wrong"}})} {
			wrong.want(http.StatusUnauthorized)
			if wrong.problem() != "That passphrase is incorrect." || wrong.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %s %v", name, wrong.body, wrong.header)
			}
		}
		ask(path).want(http.StatusOK).has(map[string]string{"payload": "x", "views_remaining": "4", "passphrase": "null", "passphrase_protected": "true"})
	}
}

func TestABlankPassphraseIsNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, blank := range []string{`""`, `" "`, `null`} {
		token := a.create(`"payload":"x","passphrase":` + blank)
		a.get(pushes + "/" + token + "?passphrase=ignored").want(http.StatusOK).has(map[string]string{"passphrase_protected": "false"})
	}
}

func TestAnExpiredPushAsksForNoPassphrase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","passphrase":"p"`)
	a.do("DELETE", pushes+"/"+token, "").want(http.StatusOK)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"expired": "true", "payload": "null"})
}

func TestWrongPassphrasesAreLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := pushes + "/" + a.create(`"payload":"x","passphrase":"p"`)
	for range 6 {
		a.get(path).want(http.StatusUnauthorized) // none at all is not a guess
	}
	for range 5 {
		a.get(path + "?passphrase=wrong").want(http.StatusUnauthorized)
	}
	got := a.get(path + "?passphrase=p").want(http.StatusTooManyRequests)
	if got.problem() != "too-many-requests" || got.header.Get("Retry-After") != "60" {
		t.Errorf("%s, Retry-After %q", got.body, got.header.Get("Retry-After"))
	}
	a.store.Clock.Advance(time.Minute)
	a.get(path + "?passphrase=p").want(http.StatusOK)
}

func TestWrongPassphrasesOfManyClientsAreLimitedPerPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := pushes + "/" + a.create(`"payload":"x","passphrase":"p"`)
	from := func(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }
	for n := range 20 {
		a.get(path+"?passphrase=wrong", from(n)).want(http.StatusUnauthorized)
	}
	a.get(path+"?passphrase=p", from(99)).want(http.StatusTooManyRequests)
}

func TestAJumpOfTheClockIsToldAs503(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	a.store.Clock.Jump(30 * day)
	for _, got := range []answer{a.get(pushes + "/" + token), a.do("POST", pushes, `{"push":{"payload":"x"}}`)} {
		got.want(http.StatusServiceUnavailable)
		if got.problem() != "unavailable" || got.header.Get("Retry-After") != "60" {
			t.Errorf("%s %v", got.body, got.header)
		}
	}
	a.store.Clock.Jump(-30 * day)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x"})
}
