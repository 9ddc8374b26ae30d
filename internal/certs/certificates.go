// Package certs has the server's own certificates: a pair of files that another program
// renews, or certificates that the package fetches by ACME (RFC 8555) and renews in time.
//
// A certificate in use stays in use when a new pair of files is broken, or the certificate
// authority does not answer. The package logs nothing: it reports to the administrator by
// Events. acmez speaks the protocol; this package decides when to order, what to serve
// meanwhile, and where to save certificates.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"pushbox/config"
)

// Directory is the directory of ACME's files in the data directory.
const Directory = "acme"

// Options configure Certificates.
type Options struct {
	Config config.Config    // with TLS enabled
	Tell   func(Event)      // called by one goroutine at a time
	Now    func() time.Time // nil: the machine's clock
}

// An Event is news of a certificate for the administrator.
type Event struct {
	Text    string    // what happened, or what failed
	Domain  string    // of the certificate; empty if it has no name
	Expires time.Time // when the certificate in use expires; zero: there is none
	Err     error     // the failure; nil: there was none
	Hint    string    // the hint; empty: none
}

// Certificates are the certificates of a server, for all of its names. They are safe for
// concurrent use. Run keeps them valid.
type Certificates struct {
	source source
	config *tls.Config
	hurry  chan struct{} // has a value when the next look should be at once
	hsts   string
	base   string // base_url
}

// A source has certificates and renews them.
type source interface {
	// find returns the certificate for a client.
	find(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// look does all due work, and returns the time until the next call.
	look(ctx context.Context) time.Duration
	// reload reads changed files, or returns an error and changes nothing.
	reload() error
	// leaves returns the certificates in use.
	leaves() []*x509.Certificate
	// names returns the hosts of the certificates, the main one first.
	names() []string
	// answer returns the proof of a host for the certificate authority over HTTP.
	answer(host, token string) (proof string, ok bool)
}

// suites are those of TLS 1.2 that keep earlier traffic secret if the key of the certificate is lost, and
// that authenticate what they encrypt. Go's own list also has CBC with SHA-1. TLS 1.3 has no others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// New reads the pair of files, or the certificates that were fetched before. It fails if the
// pair cannot be used, or a file of the settings is missing. It is no error if no
// certificate was fetched yet.
func New(o Options) (*Certificates, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Certificates{hurry: make(chan struct{}, 1), base: o.Config.BaseURL}
	if age := o.Config.TLS.HSTS; age > 0 {
		c.hsts = fmt.Sprintf("max-age=%d", int64(age.Seconds()))
		if o.Config.TLS.HSTSSubdomains {
			c.hsts += "; includeSubDomains"
		}
	}
	protocols := []string{"h2", "http/1.1"}
	var err error
	if t := o.Config.TLS; t.CertFile != "" {
		c.source, err = openPair(t.CertFile, t.KeyFile, o)
	} else {
		c.source, err = openAuthority(t, filepath.Join(o.Config.DataDir, Directory), o)
		protocols = append(protocols, challengeProtocol)
	}
	if err != nil {
		return nil, err
	}
	c.config = &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, NextProtos: protocols, GetCertificate: c.source.find}
	return c, nil
}

// TLSConfig returns the configuration of an http.Server that serves on a listener of Wrap:
// with it the server speaks HTTP/2 there. Each call returns a new copy.
func (c *Certificates) TLSConfig() *tls.Config { return c.config.Clone() }

// Wrap returns a listener that speaks TLS to the clients of l, and closes l when it is
// closed. A listener that is not on a network, such as a Unix socket, is returned unchanged.
func (c *Certificates) Wrap(l net.Listener) net.Listener {
	if _, ok := l.Addr().(*net.TCPAddr); !ok {
		return l
	}
	return tls.NewListener(l, c.config)
}

// Run keeps the certificates valid until ctx ends, and then returns nil: it fetches missing
// ones, renews due ones, and reads changed files again.
func (c *Certificates) Run(ctx context.Context) error {
	for {
		timer := time.NewTimer(c.source.look(ctx))
		select {
		case <-timer.C:
		case <-c.hurry:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// Reload reads the pair of files again, or the root of the certificate authority, and makes
// Run retry at once what failed. After an error the certificates in use stay in use.
func (c *Certificates) Reload() error {
	err := c.source.reload()
	select {
	case c.hurry <- struct{}{}:
	default:
	}
	return err
}

// Expiry returns when the first of the certificates in use expires; zero if there is none
// yet.
func (c *Certificates) Expiry() time.Time {
	_, to := c.Validity()
	return to
}

// Validity returns the validity of the certificate in use that expires first; zero if there
// is none yet.
func (c *Certificates) Validity() (from, to time.Time) {
	for _, leaf := range c.source.leaves() {
		if to.IsZero() || leaf.NotAfter.Before(to) {
			from, to = leaf.NotBefore, leaf.NotAfter
		}
	}
	return from, to
}

// Names returns the hosts of the certificates, the main one first. The certificate of a pair
// of files may have none.
func (c *Certificates) Names() []string { return c.source.names() }

// FaultHint is the hint for an error of Fault.
const FaultHint = "get a certificate with the host of base_url as a subjectAltName; browsers do not look at the common name"

// Fault returns why browsers refuse the certificates in use: they have no name, or none is for
// the host of base_url. It returns nil if there is no certificate yet.
func (c *Certificates) Fault() error { return faultOf(c.source.leaves(), hostOf(c.base)) }

func faultOf(leaves []*x509.Certificate, host string) error {
	for _, leaf := range leaves {
		if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 {
			return errors.New("it has no name (subjectAltName) in it")
		}
		if host == "" || leaf.VerifyHostname(host) == nil {
			return nil
		}
	}
	if len(leaves) == 0 {
		return nil
	}
	return fmt.Errorf("it is not for %s, which is the host of base_url", host)
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
