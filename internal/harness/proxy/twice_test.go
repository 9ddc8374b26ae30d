//go:build linux

package proxy

import (
	"net/http"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// neverTwice checks that a proxy sends no request again once a server may have seen it,
// also on a connection that it had kept: the server does what is asked, and its answer is
// lost.
func (f *proxied) neverTwice(t *testing.T, kind proxyKind, servers ...string) {
	t.Helper()
	const rounds = 10
	var relays []*relay
	var addresses []string
	for _, s := range servers {
		r := newRelay(t, "tcp", s)
		relays, addresses = append(relays, r), append(addresses, r.address())
	}
	g := *f
	g.proxy = startProxy(t, kind, addresses...)
	defer g.proxy.stop(t)
	v := &route{T: t, proxied: &g, net: "127.7.5."}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		kept := 0
		for range rounds {
			path, body := proctest.PushesPath, `{"push":{"payload":"asked once"}}`
			if method == http.MethodGet {
				path, body = path+"/"+v.create(v.client("1"), f.token), ""
			}
			if v.loseAnswer(relays, method, path, body) {
				kept++
			}
		}
		if !kind.fresh && kept == 0 {
			t.Errorf("the proxy sent no %s on a connection that it had kept", method)
		}
	}
}

// loseAnswer sends a request whose answer is lost between server and proxy. It reports
// whether the proxy sent it on a connection that it had kept.
func (v *route) loseAnswer(relays []*relay, method, path, body string) (kept bool) {
	v.Helper()
	s, err := v.proxy.session(v.Context(), v.net+"1")
	env.OK(v, err)
	defer s.Close()
	for range 2 * len(relays) { // so that each server has a connection that waits
		if status, _, _, err := s.do(http.MethodGet, "/robots.txt", "", ""); err != nil || status != http.StatusOK {
			v.Fatalf("status %d, %v", status, err)
		}
	}
	for _, r := range relays {
		r.lose(method + " " + path)
	}
	status, _, answer, err := s.do(method, path, v.token, body)
	sent := 0
	for _, r := range relays {
		n, warm := r.outcome()
		sent += n
		kept = kept || warm
		r.lose("")
	}
	if sent != 1 || err == nil && status < http.StatusInternalServerError {
		v.Errorf("the proxy sent a %s %d times; the client got %d, %v: %.200s", method, sent, status, err, answer)
	}
	return kept
}
