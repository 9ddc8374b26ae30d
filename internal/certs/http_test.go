package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

func TestBrowsersAreSentOnToHTTPS(t *testing.T) {
	t.Parallel()
	pair := sign(t, month, domain, "*.wild.example")
	for _, test := range []struct {
		base, host, path string
		port             int
		want             string // empty: it is not ours
	}{
		{"", domain, "/p/abc?x=1", 443, "https://push.example.com/p/abc?x=1"},
		{"", "PUSH.example.com.:80", "/", 443, "https://push.example.com/"},
		{"", domain, "/p/abc", 8443, "https://push.example.com:8443/p/abc"},
		{"", domain, "//evil.example/", 443, "https://push.example.com//evil.example/"},
		{"", domain, "/a%2Fb%0Ac", 443, "https://push.example.com/a%2Fb%0Ac"},
		{"", "a.wild.example", "/", 443, "https://a.wild.example/"},
		{"https://base.example", "base.example", "/x", 8443, "https://base.example/x"},
		{"https://base.example:9443", domain, "/x", 443, "https://push.example.com:9443/x"},
		{"", "evil.example", "/", 443, ""},
		{"", "a.b.wild.example", "/", 443, ""},
		{"", "127.0.0.1", "/", 443, ""},
		{"", "", "/", 443, ""},
		{"", "push.example.com@evil.example", "/", 443, ""},
		{"", "[::1]:80", "/", 443, ""},
	} {
		p := newPair(t, pair)
		p.cfg.BaseURL = test.base
		c, err := p.open()
		env.OK(t, err)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := httptest.NewRequest(method, test.path, nil)
			r.Host = test.host
			w := httptest.NewRecorder()
			c.Redirect(test.port).ServeHTTP(w, r)
			status := http.StatusPermanentRedirect
			if test.want == "" {
				status = http.StatusMisdirectedRequest
			}
			if got := w.Header().Get("Location"); got != test.want || w.Code != status {
				t.Errorf("%s %s%s: %d %s %v", method, test.host, test.path, w.Code, got, w.Header())
			}
		}
	}
}

func TestWhatWasSentInClearIsNotSentOn(t *testing.T) {
	t.Parallel()
	p := newPair(t, sign(t, month, domain))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		r := httptest.NewRequest(method, "/api/v2/pushes", strings.NewReader("secret"))
		r.Host = domain
		w := httptest.NewRecorder()
		p.certs.Redirect(443).ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || w.Header().Get("Location") != "" || !strings.Contains(w.Body.String(), "https://") || w.Header().Get("Connection") != "close" {
			t.Errorf("%s: %d %v %s", method, w.Code, w.Header(), w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/.well-known/acme-challenge/abc", nil)
	r.Host = domain
	w := httptest.NewRecorder()
	p.certs.Redirect(443).ServeHTTP(w, r)
	if w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
		t.Errorf("a proof that is not due: %d %v", w.Code, w.Header())
	}
}

func TestStrictTransportIsForTLSAlone(t *testing.T) {
	t.Parallel()
	p := newPair(t, sign(t, month, domain))
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	for _, test := range []struct {
		maxAge time.Duration
		tls    bool
		want   string
	}{{180 * 24 * time.Hour, true, "max-age=15552000"}, {180 * 24 * time.Hour, false, ""}, {0, true, ""}} {
		p.cfg.TLS.HSTS = test.maxAge
		c, err := p.open()
		env.OK(t, err)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if test.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		c.Strict(next).ServeHTTP(w, r)
		if got := w.Header().Get("Strict-Transport-Security"); got != test.want || w.Code != http.StatusNotFound {
			t.Errorf("%+v: %d %q", test, w.Code, got)
		}
	}
}

// startPair serves a pair of files.
func startPair(t *testing.T, pair signed) (s *site, roots *x509.CertPool) {
	t.Helper()
	s = newSite(t, false)
	p := newPair(t, pair)
	s.cfg.TLS = p.cfg.TLS
	s.start()
	roots = x509.NewCertPool()
	roots.AddCert(pair.leaf)
	return s, roots
}

func TestTLSSpeaksHTTP2AndNothingOlderThan12(t *testing.T) {
	t.Parallel()
	s, roots := startPair(t, sign(t, month, domain))
	get := func(c *tls.Config, h2 bool) (string, error) {
		c.RootCAs, c.ServerName = roots, domain
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: h2, DisableKeepAlives: true}}
		res, err := client.Get("https://" + s.tls.Addr().String())
		if err != nil {
			return "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return string(body), err
	}
	if proto, err := get(&tls.Config{}, true); err != nil || proto != "HTTP/2.0" {
		t.Errorf("%q, %v", proto, err)
	}
	if proto, err := get(&tls.Config{MaxVersion: tls.VersionTLS12}, false); err != nil || proto != "HTTP/1.1" {
		t.Errorf("%q, %v", proto, err)
	}
	if _, err := get(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false); err == nil { // #nosec: it must be refused
		t.Error("TLS 1.1 is spoken")
	}
	if _, err := get(&tls.Config{NextProtos: []string{"acme-tls/1"}}, false); err == nil {
		t.Error("a pair of files proves something to an authority")
	}
}

func TestOtherListenersSpeakNoTLS(t *testing.T) {
	t.Parallel()
	p := newPair(t, sign(t, month, domain))
	path := filepath.Join(p.cfg.TLS.CertFile + ".sock")
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		t.Skipf("no such sockets here: %v", err)
	}
	defer func() { _ = l.Close() }()
	if p.certs.Wrap(l) != l {
		t.Error("a socket of this machine speaks TLS")
	}
}

func TestRunEndsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	p := newPair(t, sign(t, month, domain))
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.certs.Run(ctx) }()
	stop(errors.New("stop"))
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(env.Patience):
		t.Error("it does not end")
	}
	if names := p.certs.Names(); len(names) != 1 || names[0] != domain {
		t.Errorf("it is for %v", names)
	}
}
