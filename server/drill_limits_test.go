package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
)

// trueClient is what a proxy adds that saw this client.
const trueClient = "203.0.113.7"

// disguises are ways to look like another client with every request.
var disguises = map[string]struct {
	proxy  bool // there is one, which is trusted and adds what it saw
	header func(n int) http.Header
}{
	"in front of what the proxy adds": {true, func(n int) http.Header {
		return http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.100.%d, %s", n, trueClient)}}
	}},
	"as a line of its own": {true, func(n int) http.Header {
		return http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.100.%d", n), trueClient}}
	}},
	"by other headers": {true, func(n int) http.Header {
		made := fmt.Sprintf("198.51.100.%d", n)
		return http.Header{
			"X-Forwarded-For": {trueClient}, "X-Real-Ip": {made}, "Forwarded": {"for=" + made}, "X-Client-Ip": {made},
			"Client-Ip": {made}, "Cf-Connecting-Ip": {made}, "True-Client-Ip": {made}, "X-Originating-Ip": {made},
		}
	}},
	"without a proxy": {false, func(n int) http.Header { return far(n) }},
}

// GHSA-ffp2-8p2h-4m5j, Password Pusher before 1.49.0: the rate limiter believed
// any X-Forwarded-* header, so that a new address with each request was never
// limited.
func drillForgedAddresses(t *testing.T) {
	const limit = 4
	for name, d := range disguises {
		a := newAPI(t, func(c *config.Config) {
			c.Limits.AnonymousPerMinute, c.Limits.UnknownTokensPerMinute = limit, limit
			if !d.proxy {
				c.TrustedProxies = nil
			}
		})
		for n := range limit {
			a.do("POST", pushes, "{", d.header(n)).want(http.StatusBadRequest)
		}
		if got := a.do("POST", pushes, "{", d.header(limit)); got.status != http.StatusTooManyRequests {
			t.Errorf("%s: %d after %d requests", name, got.status, limit)
		}
		a.store.Clock.Advance(time.Minute)
		for n := range limit {
			a.get("/p/"+store.NewToken(a.store.Clock.Now()).Reveal()+"/r", d.header(n)).want(http.StatusNotFound)
		}
		if got := a.get("/p/x/r", d.header(limit)); got.status != http.StatusTooManyRequests {
			t.Errorf("%s: %d after %d tokens that there are not", name, got.status, limit)
		}
		if d.proxy { // somebody else is somebody else
			a.do("POST", pushes, "{", far(200)).want(http.StatusBadRequest)
		}
	}
}

// waysToOpen are all ways to give a passphrase.
func (a *api) waysToOpen(token string) map[string]func(passphrase string, from http.Header) answer {
	path := pushes + "/" + token
	return map[string]func(string, http.Header) answer{
		"query": func(p string, from http.Header) answer { return a.get(path+".json?passphrase="+p, from) },
		"header": func(p string, from http.Header) answer {
			return a.get(path, from, http.Header{"X-Push-Passphrase": {p}})
		},
		"form": func(p string, from http.Header) answer { return a.do("GET", path, "passphrase="+p, urlencoded, from) },
		"page": func(p string, from http.Header) answer {
			return a.send("/p/"+token, map[string]string{"passphrase": p}, from)
		},
		"page, in capitals": func(p string, from http.Header) answer {
			return a.send("/p/"+strings.ToUpper(token), map[string]string{"passphrase": p}, from)
		},
	}
}

// GHSA-59w3-h5v2-c4xw, Password Pusher before 2.9.2: the page that takes the
// passphrase had no limit but the general one of 120 requests a minute, and the push
// none at all.
func drillGuessedPassphrases(t *testing.T) {
	a := newAPI(t)
	token := a.create(`"payload":"inside it","passphrase":"p"`)
	ways := a.waysToOpen(token)
	// guess goes on from one address until it is told to stop.
	guess := func(from http.Header) (tries int) {
		for range 10 {
			for name, try := range ways {
				switch got := try("wrong", from); {
				case got.status == http.StatusTooManyRequests:
					return tries
				case got.status == http.StatusOK || strings.Contains(got.body, "inside it"):
					t.Fatalf("%s: it opened", name)
				default:
					tries++
				}
			}
		}
		return tries
	}
	all := 0
	for n := range 6 {
		tries := guess(far(n))
		if all += tries; tries > 5 || n == 0 && tries != 5 {
			t.Errorf("client %d had %d tries", n, tries)
		}
	}
	if all != 20 {
		t.Errorf("there were %d tries", all)
	}
	for name, try := range ways {
		if got := try("p", far(99)); got.status != http.StatusTooManyRequests {
			t.Errorf("%s: the right one is answered with %d", name, got.status)
		}
	}
	if got := a.trace(token); got.views != 0 {
		t.Errorf("%d views", got.views)
	}
	a.store.Clock.Advance(10 * time.Minute)
	a.get(pushes+"/"+token+"?passphrase=p", far(99)).want(http.StatusOK).has(map[string]string{"payload": "inside it"})
}

// Finding C3 of Onetime Secret's review of 2026-06-22: the reveal of its first API
// had none of the limits that the second had. Paths of other versions lead nowhere
// here that a passphrase could be tried at.
func drillOldPaths(t *testing.T) {
	a := newAPI(t)
	token := a.create(`"payload":"inside it","passphrase":"p"`)
	before := a.trace(token)
	for _, path := range []string{
		"/f/TOKEN", "/r/TOKEN", "/f/TOKEN/r", "/r/TOKEN/r", "/p/TOKEN.json", "/f/TOKEN.json", "/r/TOKEN.json", "/en/p/TOKEN", "/p/TOKEN/access",
		"/p/TOKEN/passphrase", "/p/TOKEN/preview", "/api/v1/p/TOKEN", "/api/v1/pushes/TOKEN", "/api/v2/p/TOKEN", "/api/pushes/TOKEN",
		"/secret/TOKEN", "/api/v1/secret/TOKEN", "/pushes/TOKEN", "/" + "TOKEN",
	} {
		path = strings.Replace(path, "TOKEN", token, 1)
		for _, method := range []string{"GET", "POST", "HEAD", "PUT"} {
			got := a.do(method, path+"?passphrase=p", "passphrase=p", urlencoded, navigation(), http.Header{"X-Push-Passphrase": {"p"}})
			if strings.Contains(got.body, "inside it") || got.status >= 500 {
				t.Errorf("%s %s: %d", method, path, got.status)
			}
			a.store.Clock.Advance(time.Minute)
		}
	}
	if after := a.trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
}

// Finding M-7 of Onetime Secret's review of 2026-08-14: nothing limited how much
// those who have no account create.
func drillUnlimitedPushes(t *testing.T) {
	const limit = 3
	a := newAPI(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = limit })
	for n := range limit {
		if n%2 == 0 {
			a.do("POST", pushes, `{"push":{"payload":"x"}}`, far(1)).want(http.StatusCreated)
		} else {
			a.sendForm(typed(nil), far(1)).want(http.StatusCreated)
		}
	}
	a.do("POST", pushes, `{"push":{"payload":"x"}}`, far(1)).want(http.StatusTooManyRequests)
	a.do("POST", pushes+".json", "push[payload]=x", urlencoded, far(1)).want(http.StatusTooManyRequests)
	a.sendForm(typed(nil), far(1)).want(http.StatusTooManyRequests)
	a.sendForm(typed(nil), far(2)).want(http.StatusCreated)
}

// Finding A7 of Onetime Secret's review of 2026-06-22: a password could be of any
// length, and Argon2 had all of it to read.
func drillEndlessPassword(t *testing.T) {
	a := newSite(t, signUps)
	long, endless := strings.Repeat("x", store.MaxPassword+1), strings.Repeat("x", 1<<20)
	for _, path := range []string{"/users/sign_in", "/users/sign_up"} {
		if got := a.browser().post(path, "email", "eve@example.com", "password", endless); got.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	a.browser().post("/users/sign_up", "email", "eve@example.com", "password", long).want(http.StatusUnprocessableEntity)
	if _, err := a.store.AddAccount(ctx, "eve@example.com", secret.New(long)); err == nil {
		t.Error("an account has such a password")
	}
	token := a.create(`"payload":"x","passphrase":"p"`)
	a.do("POST", pushes, `{"push":{"payload":"x","passphrase":"`+long+`"}}`).want(http.StatusUnprocessableEntity)
	for name, try := range a.waysToOpen(token) {
		for range 6 { // it is not even a guess
			if got := try(long, far(1)); got.status != http.StatusBadRequest {
				t.Errorf("%s: %d", name, got.status)
			}
		}
	}
}
