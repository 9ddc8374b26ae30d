package certs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
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
		c := env.Must(p.open())(t)
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
	for path, token := range map[string]string{"/api/v2/pushes/active": "", "/push/api/v2/version": "", "/p/abc.json": "", "/p/abc": "Bearer x"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = domain
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		w := httptest.NewRecorder()
		p.certs.Redirect(443).ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
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
		below  bool
		tls    bool
		want   string
	}{
		{365 * 24 * time.Hour, false, true, "max-age=31536000"},
		{365 * 24 * time.Hour, true, true, "max-age=31536000; includeSubDomains"},
		{365 * 24 * time.Hour, true, false, ""},
		{0, true, true, ""},
	} {
		p.cfg.TLS.HSTS, p.cfg.TLS.HSTSSubdomains = test.maxAge, test.below
		c := env.Must(p.open())(t)
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
	for _, suite := range []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA} {
		if _, err := get(&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}, false); err == nil {
			t.Errorf("%s is spoken", tls.CipherSuiteName(suite))
		}
	}
	if _, err := get(&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}, false); err != nil {
		t.Error(err)
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
	env.Run(t, p.certs.Run)()
	if names := p.certs.Names(); len(names) != 1 || names[0] != domain {
		t.Errorf("it is for %v", names)
	}
}

func TestAKeyWithAPassphraseIsRefusedByThatName(t *testing.T) {
	t.Parallel()
	pair := sign(t, time.Hour, domain)
	dir := t.TempDir()
	cfg := config.Default()
	cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	env.OK(t, os.WriteFile(cfg.TLS.CertFile, pair.cert, 0o600))
	for _, c := range []struct {
		what      string
		key       *pem.Block
		encrypted bool
	}{
		{"PKCS #8", &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("sealed")}, true},
		{"RFC 1421", &pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte("sealed")}, true},
		{"damaged", &pem.Block{Type: "PRIVATE KEY", Bytes: []byte("damaged")}, false},
	} {
		env.OK(t, os.WriteFile(cfg.TLS.KeyFile, pem.EncodeToMemory(c.key), 0o600))
		_, err := certs.New(certs.Options{Config: cfg, Tell: func(certs.Event) {}})
		if err == nil || errors.Is(err, certs.ErrPassphrase) != c.encrypted {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := certs.Hint(err); strings.HasPrefix(got, "remove the passphrase") != c.encrypted {
			t.Errorf("%s: the hint is %s", c.what, got)
		}
	}
}

func TestRootsAreReadFromAFileInPEM(t *testing.T) {
	t.Parallel()
	one, two := sign(t, time.Hour, domain), sign(t, time.Hour, another)
	path := filepath.Join(t.TempDir(), "roots.pem")
	for _, c := range []struct {
		what    string
		content []byte
		trusted []signed
	}{
		{"one", one.cert, []signed{one}},
		{"two, with words between them", bytes.Join([][]byte{one.cert, two.cert}, []byte("and\n")), []signed{one, two}},
		{"none", nil, nil},
		{"a key", one.key, nil},
		{"too much", bytes.Repeat([]byte("#"), 1<<20+1), nil},
	} {
		env.OK(t, os.WriteFile(path, c.content, 0o600))
		roots, err := certs.ReadRoots(path, false)
		if (err != nil) != (c.trusted == nil) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		want := x509.NewCertPool()
		for _, s := range c.trusted {
			want.AddCert(s.leaf)
		}
		if err == nil && !roots.Equal(want) {
			t.Errorf("%s: other roots are trusted", c.what)
		}
	}
	_, err := certs.ReadRoots(filepath.Join(t.TempDir(), "none"), false)
	env.ErrorIs(t, "no file", err, fs.ErrNotExist)
}

func TestRootsCanBeAddedToThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	own := sign(t, time.Hour, domain)
	path := filepath.Join(t.TempDir(), "roots.pem")
	env.OK(t, os.WriteFile(path, own.cert, 0o600))
	want, err := x509.SystemCertPool()
	if err != nil {
		want = x509.NewCertPool()
	}
	want.AddCert(own.leaf)
	if got, err := certs.ReadRoots(path, true); err != nil || !got.Equal(want) {
		t.Errorf("other roots are trusted (%v)", err)
	}
}

func TestAFileWithoutAUsableRootSaysWhy(t *testing.T) {
	t.Parallel()
	one := sign(t, time.Hour, domain)
	path := filepath.Join(t.TempDir(), "roots")
	for want, content := range map[string][]byte{
		"no certificate in PEM": one.key,
		"openssl x509":          one.leaf.Raw,
		"cannot be used: x509:": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.leaf.Raw[1:]}),
	} {
		env.OK(t, os.WriteFile(path, content, 0o600))
		if _, err := certs.ReadRoots(path, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
