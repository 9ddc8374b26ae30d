package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/testkit/acmetest"
	"pushbox/internal/testkit/env"
)

const (
	domain  = "push.example.com"
	another = "other.example.com"
	free    = "127.0.0.1:0"
)

// A site is a server with certificates, on loopback.
type site struct {
	t        *testing.T
	cfg      config.Config
	certs    *certs.Certificates
	tls      net.Listener // without TLS yet; it stays open over restarts
	http     net.Listener // the same; nil: plain HTTP is not answered
	clock    *env.Ahead
	log      *events
	stopSite func()
}

// newSite opens the listeners; start begins to serve.
func newSite(t *testing.T, plain bool) *site {
	t.Helper()
	s := &site{t: t, cfg: config.Default(), clock: new(env.Ahead), log: &events{came: make(chan certs.Event, 100)}}
	s.cfg.DataDir = t.TempDir()
	s.tls = listen(t, free)
	if plain {
		s.http = listen(t, free)
		s.cfg.TLS.RedirectListen = s.http.Addr().String()
	}
	return s
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l := env.Must(net.Listen("tcp", address))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// again is the listener once more: when it is closed, no other program can take its port.
func again(t *testing.T, l net.Listener) net.Listener {
	t.Helper()
	f := env.Must(l.(*net.TCPListener).File())(t)
	defer f.Close()
	return env.Must(net.FileListener(f))(t)
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// authority starts a certificate authority that finds the site, and lets the site
// ask it.
func (s *site) authority(o acmetest.Options) *acmetest.CA {
	s.t.Helper()
	ca := acmetest.New(s.t, o)
	s.cfg.TLS.ACME = config.ACME{Domains: []string{domain}, DirectoryURL: ca.Directory, CAFile: ca.RootFile, Email: "ann@example.com"}
	return ca
}

// reached starts an authority that reaches the site by TLS, and by no other way.
func (s *site) reached() *acmetest.CA {
	s.t.Helper()
	return s.authority(acmetest.Options{HTTPPort: closedPort, TLSPort: port(s.tls)})
}

// newServed is a site with a certificate that an authority has issued.
func newServed(t *testing.T) (*site, *acmetest.CA) {
	t.Helper()
	s := newSite(t, false)
	ca := s.reached()
	s.start()
	s.fetched()
	return s, ca
}

// start serves until the test ends or stop is called.
func (s *site) start() {
	s.t.Helper()
	s.certs = env.Must(certs.New(certs.Options{Config: s.cfg, Tell: s.log.tell, Now: s.clock.Now}))(s.t)
	srv := &http.Server{
		TLSConfig: s.certs.TLSConfig(), ReadHeaderTimeout: env.Patience, ErrorLog: log.New(io.Discard, "", 0),
		Handler: s.certs.Strict(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Proto)
		})),
	}
	var wg sync.WaitGroup
	shown := s.certs.Wrap(again(s.t, s.tls))
	wg.Go(func() { _ = srv.Serve(shown) })
	plain := &http.Server{ReadHeaderTimeout: env.Patience, Handler: s.certs.Redirect(port(s.tls))}
	if s.http != nil {
		open := again(s.t, s.http)
		wg.Go(func() { _ = plain.Serve(open) })
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	wg.Go(func() {
		if err := s.certs.Run(ctx); err != nil {
			s.t.Errorf("Run ended with %v", err)
		}
	})
	var once sync.Once
	s.stopSite = func() {
		once.Do(func() {
			cancel()
			_ = srv.Close()
			_ = plain.Close()
			wg.Wait()
		})
	}
	s.t.Cleanup(s.stopSite)
}

// restart begins anew over the same files, at the same addresses.
func (s *site) restart() {
	s.t.Helper()
	s.stopSite()
	s.start()
}

// shown is the certificate that the site shows, which must be one for name that
// roots has signed; nil roots: any.
func (s *site) shown(name string, roots *x509.CertPool) (*x509.Certificate, error) {
	d := tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: roots, InsecureSkipVerify: roots == nil, Time: s.clock.Now}}
	ctx, cancel := context.WithTimeout(s.t.Context(), env.Patience)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", s.tls.Addr().String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// mustShow is the certificate that the site shows for a domain.
func (s *site) mustShow(name string, roots *x509.CertPool) *x509.Certificate {
	s.t.Helper()
	return env.Must(s.shown(name, roots))(s.t)
}

// events are what an operator is told.
type events struct{ came chan certs.Event }

func (e *events) tell(event certs.Event) { e.came <- event }

// next is the next event.
func (s *site) next() certs.Event {
	s.t.Helper()
	select {
	case e := <-s.log.came:
		return e
	case <-time.After(env.Patience):
		s.t.Fatal("nothing is told")
		return certs.Event{}
	}
}

// fetched waits until a certificate was fetched.
func (s *site) fetched() certs.Event {
	s.t.Helper()
	e := s.next()
	if e.Err != nil || e.Text != "a certificate was fetched" || e.Expires.IsZero() {
		s.t.Fatalf("it tells %+v", e)
	}
	return e
}

// failure waits until something failed.
func (s *site) failure() certs.Event {
	s.t.Helper()
	e := s.next()
	if e.Err == nil || e.Hint == "" {
		s.t.Fatalf("it tells %+v", e)
	}
	return e
}

// silent fails the test if something was told.
func (s *site) silent() {
	s.t.Helper()
	select {
	case e := <-s.log.came:
		s.t.Errorf("it tells %+v", e)
	default:
	}
}
