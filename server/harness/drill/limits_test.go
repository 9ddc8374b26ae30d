package drill_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
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
	"without a proxy": {false, func(n int) http.Header { return servertest.Far(n) }},
}

// GHSA-ffp2-8p2h-4m5j, Password Pusher before 1.49.0: the rate limiter believed
// any X-Forwarded-* header, so that a new address with each request was never
// limited.
func drillForgedAddresses(t *testing.T) {
	const limit = 4
	for name, d := range disguises {
		a := servertest.New(t, func(c *config.Config) {
			c.Limits.AnonymousPerMinute, c.Limits.UnknownTokensPerMinute = limit, limit
			if !d.proxy {
				c.TrustedProxies = nil
			}
		})
		for n := range limit {
			a.Do("POST", pushes, "{", d.header(n)).Want(http.StatusBadRequest)
		}
		if got := a.Do("POST", pushes, "{", d.header(limit)); got.Status != http.StatusTooManyRequests {
			t.Errorf("%s: %d after %d requests", name, got.Status, limit)
		}
		a.Store.Clock.Advance(time.Minute)
		for n := range limit {
			a.Get("/p/"+store.NewToken(a.Store.Clock.Now()).Reveal()+"/r", d.header(n)).Want(http.StatusNotFound)
		}
		if got := a.Get("/p/x/r", d.header(limit)); got.Status != http.StatusTooManyRequests {
			t.Errorf("%s: %d after %d tokens that there are not", name, got.Status, limit)
		}
		if d.proxy { // another client has a limit of its own
			a.Do("POST", pushes, "{", servertest.Far(200)).Want(http.StatusBadRequest)
		}
	}
}

// waysToOpen are all ways to give a passphrase.
func waysToOpen(a *servertest.Server, token string) map[string]func(passphrase string, from http.Header) servertest.Answer {
	path := pushes + "/" + token
	return map[string]func(string, http.Header) servertest.Answer{
		"query": func(p string, from http.Header) servertest.Answer { return a.Get(path+".json?passphrase="+p, from) },
		"header": func(p string, from http.Header) servertest.Answer {
			return a.Get(path, from, http.Header{"X-Push-Passphrase": {p}})
		},
		"form": func(p string, from http.Header) servertest.Answer {
			return a.Do("GET", path, "passphrase="+p, servertest.Urlencoded, from)
		},
		"version 1": func(p string, from http.Header) servertest.Answer {
			return a.Get("/p/"+token+".json?passphrase="+p, from)
		},
		"version 1, older path": func(p string, from http.Header) servertest.Answer {
			return a.Get("/f/"+token+".json?passphrase="+p, from)
		},
		"version 1, step": func(p string, from http.Header) servertest.Answer {
			return a.Get("/r/"+token+"/r.json?passphrase="+p, from)
		},
		"page": func(p string, from http.Header) servertest.Answer {
			return a.Send("/p/"+token, map[string]string{"passphrase": p}, from)
		},
		"page, in capitals": func(p string, from http.Header) servertest.Answer {
			return a.Send("/p/"+strings.ToUpper(token), map[string]string{"passphrase": p}, from)
		},
	}
}

// GHSA-59w3-h5v2-c4xw, Password Pusher before 2.9.2: the page that takes the
// passphrase had no limit but the general one of 120 requests a minute, and the push
// none at all.
func drillGuessedPassphrases(t *testing.T) {
	a := servertest.New(t)
	token := a.Create(`"payload":"inside it","passphrase":"p"`)
	ways := waysToOpen(a, token)
	// guess tries from one address until it is told to stop.
	guess := func(from http.Header) (tries int) {
		for range 10 {
			for name, try := range ways {
				switch got := try("wrong", from); {
				case got.Status == http.StatusTooManyRequests:
					return tries
				case got.Status == http.StatusOK || strings.Contains(got.Body, "inside it"):
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
		tries := guess(servertest.Far(n))
		if all += tries; tries > 5 || n == 0 && tries != 5 {
			t.Errorf("client %d had %d tries", n, tries)
		}
	}
	if all != 20 {
		t.Errorf("there were %d tries", all)
	}
	for name, try := range ways {
		if got := try("p", servertest.Far(99)); got.Status != http.StatusTooManyRequests {
			t.Errorf("%s: the right one is answered with %d", name, got.Status)
		}
	}
	if got := a.Trace(token); got.Views != 0 {
		t.Errorf("%d views", got.Views)
	}
	a.Store.Clock.Advance(10 * time.Minute)
	a.Get(pushes+"/"+token+"?passphrase=p", servertest.Far(99)).Want(http.StatusOK).Has(map[string]string{"payload": "inside it"})
}

// Finding C3 of Onetime Secret's review of 2026-06-22: the reveal of its first API
// had none of the limits that the second had. Here version 1 has those of version 2
// (drillGuessedPassphrases tries both), and other old paths lead nowhere that a
// passphrase could be tried at.
func drillOldPaths(t *testing.T) {
	a := servertest.New(t)
	token := a.Create(`"payload":"inside it","passphrase":"p"`)
	before := a.Trace(token)
	for _, path := range []string{
		"/f/TOKEN", "/r/TOKEN", "/f/TOKEN/r", "/r/TOKEN/r", "/en/p/TOKEN", "/de/f/TOKEN/r", "/en/p/TOKEN.json", "/p/TOKEN/access",
		"/p/TOKEN/passphrase", "/p/TOKEN/preview", "/api/v1/p/TOKEN", "/api/v1/pushes/TOKEN", "/api/v2/p/TOKEN", "/api/pushes/TOKEN",
		"/secret/TOKEN", "/api/v1/secret/TOKEN", "/pushes/TOKEN", "/" + "TOKEN",
	} {
		path = strings.Replace(path, "TOKEN", token, 1)
		for _, method := range []string{"GET", "POST", "HEAD", "PUT"} {
			got := a.Do(method, path+"?passphrase=p", "passphrase=p", servertest.Urlencoded, servertest.Navigation(), http.Header{"X-Push-Passphrase": {"p"}})
			if strings.Contains(got.Body, "inside it") || got.Status >= 500 {
				t.Errorf("%s %s: %d", method, path, got.Status)
			}
			a.Store.Clock.Advance(time.Minute)
		}
	}
	if after := a.Trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
}

// Finding M-7 of Onetime Secret's review of 2026-08-14: nothing limited how much
// clients without an account create.
func drillUnlimitedPushes(t *testing.T) {
	const limit = 3
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = limit })
	for n := range limit {
		if n%2 == 0 {
			a.Do("POST", pushes, `{"push":{"payload":"x"}}`, servertest.Far(1)).Want(http.StatusCreated)
		} else {
			a.NewReceipt(servertest.Far(1))
		}
	}
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, servertest.Far(1)).Want(http.StatusTooManyRequests)
	a.Do("POST", pushes+".json", "push[payload]=x", servertest.Urlencoded, servertest.Far(1)).Want(http.StatusTooManyRequests)
	a.SendForm(servertest.Typed(nil), servertest.Far(1)).Want(http.StatusTooManyRequests)
	a.NewReceipt(servertest.Far(2))
}

// Finding A7 of Onetime Secret's review of 2026-06-22: a password could be of any
// length, and Argon2 had all of it to read.
func drillEndlessPassword(t *testing.T) {
	a := servertest.NewSite(t, servertest.SignUps)
	long, endless := strings.Repeat("x", record.MaxPassword+1), strings.Repeat("x", 1<<20)
	for _, path := range []string{"/users/sign_in", "/users/sign_up"} {
		if got := a.Browser().Post(path, "email", "eve@example.com", "password", endless); got.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	a.Browser().Post("/users/sign_up", "email", "eve@example.com", "password", long).Want(http.StatusUnprocessableEntity)
	if _, err := a.Store.AddAccount(ctx, store.Actor{Role: store.Operator}, "eve@example.com", secret.New(long)); err == nil {
		t.Error("an account has such a password")
	}
	token := a.Create(`"payload":"x","passphrase":"p"`)
	a.Do("POST", pushes, `{"push":{"payload":"x","passphrase":"`+long+`"}}`).Want(http.StatusUnprocessableEntity)
	for name, try := range waysToOpen(a, token) {
		for range 6 { // it is not even a guess
			if got := try(long, servertest.Far(1)); got.Status != http.StatusBadRequest {
				t.Errorf("%s: %d", name, got.Status)
			}
		}
	}
}
