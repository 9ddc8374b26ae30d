package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"
	"time"

	"pushbox/config"
)

// Directory is the name, in the data directory, of what is kept of ACME.
const Directory = "acme"

// Options are what Certificates are made of.
type Options struct {
	Config config.Config    // with TLS enabled
	Tell   func(Event)      // is told what happens, by one goroutine at a time
	Now    func() time.Time // nil: the machine's clock
}

// An Event is something about a certificate that whoever runs the server should
// know.
type Event struct {
	Text    string    // what happened, or what failed
	Domain  string    // whose certificate it is; empty if it has no name
	Expires time.Time // until when the one that is served now is good; zero if there is none
	Err     error     // why it failed; nil: it did not
	Hint    string    // what to do about it; empty if nothing is to be done
}

// Certificates are what a server shows for the names that it has. Make them with
// New; they are safe for concurrent use. Run must run for them to stay fresh.
type Certificates struct {
	source source
	config *tls.Config
	hurry  chan struct{} // holds a value while somebody wants a look at once
	hsts   string
	base   string // base_url
}

// A source has certificates and looks after them.
type source interface {
	// find returns what to show to a client.
	find(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// look does what is due, and returns when to look again.
	look(ctx context.Context) time.Duration
	// reload takes up what was changed, or says why it cannot.
	reload() error
	// leaves are the certificates that are served now.
	leaves() []*x509.Certificate
	// names are the hosts that it is for, the main one first.
	names() []string
	// answer is what proves a host to the certificate authority over HTTP.
	answer(host, token string) (proof string, ok bool)
}

// New reads the certificates that there are: the pair of files, or what was
// fetched before. It fails if the pair cannot be used, or the settings name
// something that is not there; that no certificate was fetched yet is no error.
func New(o Options) (*Certificates, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Certificates{
		hurry: make(chan struct{}, 1),
		hsts:  hstsHeader(o.Config.TLS.HSTS),
		base:  o.Config.BaseURL,
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
	c.config = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, GetCertificate: c.source.find}
	return c, nil
}

// TLSConfig is for an http.Server that serves on a listener of Wrap: it makes it
// speak HTTP/2 there. Each call returns another copy.
func (c *Certificates) TLSConfig() *tls.Config { return c.config.Clone() }

// Wrap returns a listener that speaks TLS to those who come to l, and closes l
// when it is closed. Only what comes over a network needs that: another listener,
// such as a Unix socket, is returned as it is.
func (c *Certificates) Wrap(l net.Listener) net.Listener {
	if _, ok := l.Addr().(*net.TCPAddr); !ok {
		return l
	}
	return tls.NewListener(l, c.config)
}

// Run looks after the certificates until ctx ends, and then returns nil at once
// but for a call that cannot be cut short. It fetches those that are missing,
// renews those that are due, and reads files again that have changed.
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

// Reload reads the pair of files again, or the root of the certificate authority,
// and lets Run try at once what has failed. An error says what is wrong with what
// was read; then everything stays as it was.
func (c *Certificates) Reload() error {
	err := c.source.reload()
	select {
	case c.hurry <- struct{}{}:
	default:
	}
	return err
}

// Expiry is when the first of the certificates that are served ends; zero if there
// is none yet.
func (c *Certificates) Expiry() time.Time {
	_, to := c.Validity()
	return to
}

// Validity is from when to when the certificate is good that ends first of those that
// are served; zero if there is none yet.
func (c *Certificates) Validity() (from, to time.Time) {
	for _, leaf := range c.source.leaves() {
		if to.IsZero() || leaf.NotAfter.Before(to) {
			from, to = leaf.NotBefore, leaf.NotAfter
		}
	}
	return from, to
}

// Names are the hosts that the certificates are for, the main one first. There may
// be none, in a pair of files.
func (c *Certificates) Names() []string { return c.source.names() }
