package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/testkit/env"
)

// A signed is a certificate with its key, as PEM.
type signed struct {
	cert, key []byte
	leaf      *x509.Certificate
}

// sign makes a certificate that has signed itself.
func sign(t *testing.T, validity time.Duration, names ...string) signed {
	t.Helper()
	key := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "test"}, DNSNames: names,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
	}
	der := env.Must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	keyDER := env.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	leaf := env.Must(x509.ParseCertificate(der))(t)
	return signed{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		leaf: leaf,
	}
}

// A pairSite is a pair of files with what looks after it.
type pairSite struct {
	t     *testing.T
	cfg   config.Config
	certs *certs.Certificates
	clock *env.Ahead

	mu  sync.Mutex
	all []certs.Event
}

// told is all that was told so far.
func (p *pairSite) told() []certs.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

func (p *pairSite) tell(e certs.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, e)
}

const month = 30 * 24 * time.Hour

// newPair writes a pair and opens it.
func newPair(t *testing.T, first signed) *pairSite {
	t.Helper()
	p := &pairSite{t: t, cfg: config.Default(), clock: new(env.Ahead)}
	dir := t.TempDir()
	p.cfg.TLS.CertFile, p.cfg.TLS.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	p.write(first.cert, first.key)
	c := env.Must(p.open())(t)
	p.certs = c
	return p
}

func (p *pairSite) open() (*certs.Certificates, error) {
	return certs.New(certs.Options{Config: p.cfg, Tell: p.tell, Now: p.clock.Now})
}

func (p *pairSite) write(cert, key []byte) {
	p.t.Helper()
	err := errors.Join(os.WriteFile(p.cfg.TLS.CertFile, cert, 0o600), os.WriteFile(p.cfg.TLS.KeyFile, key, 0o600))
	env.OK(p.t, err)
}

// shows fails the test unless a client is shown that certificate.
func (p *pairSite) shows(want signed) {
	p.t.Helper()
	got, err := p.certs.TLSConfig().GetCertificate(&tls.ClientHelloInfo{ServerName: "any.example"})
	if err != nil || !got.Leaf.Equal(want.leaf) {
		p.t.Errorf("another certificate is shown, %v", err)
	}
	if !p.certs.Expiry().Equal(want.leaf.NotAfter) {
		p.t.Errorf("it ends %v", p.certs.Expiry())
	}
}

// watched runs what looks after the pair within a bubble whose time passes by
// itself, as long as the test has not ended.
func watched(t *testing.T, test func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, test)
}

func (p *pairSite) run() {
	p.t.Helper()
	go func() { _ = p.certs.Run(p.t.Context()) }()
}

// wait lets time pass for a look or two.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAChangedPairIsServedWithoutARestart(t *testing.T) {
	watched(t, func(t *testing.T) {
		first, second := sign(t, 3*month, domain), sign(t, 3*month, domain)
		p := newPair(t, first)
		p.run()
		wait(time.Minute)
		p.shows(first)
		p.write(second.cert, second.key)
		wait(11 * time.Second)
		p.shows(second)
		if len(p.told()) != 1 || p.told()[0].Err != nil || p.told()[0].Domain != domain || !p.told()[0].Expires.Equal(second.leaf.NotAfter) {
			t.Errorf("it tells %+v", p.told())
		}
	})
}

func TestABrokenPairLeavesTheOldOneInUse(t *testing.T) {
	for name, spoil := range map[string]func(p *pairSite, first, second signed){
		"the key of another": func(p *pairSite, first, second signed) { p.write(second.cert, first.key) },
		"nothing in it":      func(p *pairSite, first, _ signed) { p.write(nil, first.key) },
		"no file":            func(p *pairSite, _, _ signed) { _ = os.Remove(p.cfg.TLS.KeyFile) },
		"half of it":         func(p *pairSite, _, second signed) { p.write(second.cert[:200], second.key) },
		"too much":           func(p *pairSite, _, second signed) { p.write(make([]byte, 1<<20+1), second.key) },
	} {
		t.Run(name, func(t *testing.T) {
			watched(t, func(t *testing.T) {
				first, second := sign(t, 3*month, domain), sign(t, 3*month, domain)
				p := newPair(t, first)
				p.run()
				wait(time.Second)
				spoil(p, first, second)
				wait(10 * time.Second)
				if len(p.told()) != 0 {
					t.Errorf("a pair that may be written right now is complained of: %+v", p.told())
				}
				wait(time.Minute)
				p.shows(first)
				if len(p.told()) != 1 || p.told()[0].Err == nil || p.told()[0].Hint == "" {
					t.Errorf("it tells %+v", p.told())
				}
				if err := p.certs.Reload(); err == nil {
					t.Error("Reload takes it")
				}
				p.shows(first)
				p.write(second.cert, second.key)
				wait(10 * time.Second)
				p.shows(second)
			})
		})
	}
}

func TestAnExpiredPairDoesNotTakeThePlaceOfAGoodOne(t *testing.T) {
	watched(t, func(t *testing.T) {
		good, expired := sign(t, 3*month, domain), sign(t, -time.Minute, domain)
		p := newPair(t, good)
		p.write(expired.cert, expired.key)
		if err := p.certs.Reload(); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("got %v", err)
		}
		p.shows(good)
		p = newPair(t, expired) // at the start there is no better one
		p.shows(expired)
	})
}

func TestReloadServesAChangedPairAtOnce(t *testing.T) {
	t.Parallel()
	first, second := sign(t, 3*month, domain), sign(t, 3*month, domain)
	p := newPair(t, first)
	p.write(second.cert, second.key)
	p.shows(first)
	env.OK(t, p.certs.Reload())
	p.shows(second)
	if err := p.certs.Reload(); err != nil { // of what is there already nothing is told
		t.Fatal(err)
	}
	if told := p.told(); len(told) != 1 || told[0].Err != nil || !told[0].Expires.Equal(second.leaf.NotAfter) {
		t.Errorf("it tells %+v", told)
	}
}

func TestACertificateThatEndsSoonIsToldOfOnceADay(t *testing.T) {
	watched(t, func(t *testing.T) {
		const day = 24 * time.Hour
		p := newPair(t, sign(t, 100*day, domain))
		p.run()
		p.clock.Advance(92 * day)
		wait(time.Minute)
		if len(p.told()) != 0 {
			t.Errorf("eight days before the end it tells %+v", p.told())
		}
		p.clock.Advance(day + time.Hour)
		wait(time.Minute)
		if err := p.certs.Reload(); err != nil {
			t.Error(err)
		}
		wait(time.Minute)
		if len(p.told()) != 1 || p.told()[0].Err == nil || !strings.Contains(p.told()[0].Text, "soon") {
			t.Errorf("a week before the end it tells %+v", p.told())
		}
		for range 7 {
			p.clock.Advance(day)
			wait(time.Minute)
		}
		told := p.told()
		if last := told[len(told)-1]; len(told) != 8 || !strings.Contains(last.Err.Error(), "has expired") {
			t.Errorf("in a week and a day it tells %d times, at last %+v", len(told), last)
		}
	})
}

func TestAPairThatCannotBeUsedIsAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	first, second := sign(t, month, domain), sign(t, month, domain)
	p := newPair(t, first)
	p.write(first.cert, second.key)
	if _, err := p.open(); err == nil || !strings.Contains(err.Error(), p.cfg.TLS.KeyFile) {
		t.Errorf("got %v", err)
	}
	env.OK(t, os.Remove(p.cfg.TLS.CertFile))
	_, err := p.open()
	env.ErrorIs(t, "it", err, fs.ErrNotExist)
}
