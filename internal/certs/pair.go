package certs

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pairEvery    = 10 * time.Second // how often the files are read
	maxPEM       = 1 << 20          // bytes of one
	remindEvery  = time.Hour        // of a pair that cannot be used
	warnEvery    = 24 * time.Hour   // of a certificate that is about to expire
	warnBefore   = 7 * 24 * time.Hour
	warnFraction = 5 // of its time, for one that is good for less
)

// A pair is a certificate and its key in two files that somebody else writes.
type pair struct {
	certFile, keyFile string
	tell              func(Event)
	now               func() time.Time
	cert              atomic.Pointer[tls.Certificate] // never nil

	mu     sync.Mutex
	served digest // of the files that cert came from
	seen   digest // of those that were read last
	told   time.Time
	warned time.Time
}

type digest [sha256.Size]byte

// openPair reads the files.
func openPair(certFile, keyFile string, o Options) (*pair, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, tell: o.Tell, now: o.Now}
	if err := p.reload(); err != nil {
		return nil, err
	}
	return p, nil
}

// read reads both files. The digest tells apart what is in them, and what keeps
// them from being read.
func (p *pair) read() (cert *tls.Certificate, d digest, err error) {
	certPEM, certErr := readBounded(p.certFile)
	keyPEM, keyErr := readBounded(p.keyFile)
	defer clear(keyPEM)
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), err
	}
	h := sha256.New()
	for _, part := range [][]byte{certPEM, keyPEM} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	d = digest(h.Sum(nil))
	made, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, d, fmt.Errorf("%s and %s: %w", p.certFile, p.keyFile, err)
	}
	return &made, d, nil
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s is larger than 1 MiB", name)
	}
	return text, errors.Join(err, f.Close())
}

// take serves a pair, unless it has ended and the one that is served has not.
func (p *pair) take(cert *tls.Certificate, d digest) error {
	old, now := p.cert.Load(), p.now()
	if old != nil && now.After(cert.Leaf.NotAfter) && !now.After(old.Leaf.NotAfter) {
		return fmt.Errorf("%s: the certificate has expired, at %s", p.certFile, cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	p.warned = time.Time{}
	p.cert.Store(cert)
	p.served = d
	return nil
}

func (p *pair) reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, d, err := p.read()
	if err != nil {
		return err
	}
	return p.replace(cert, d)
}

// replace serves a pair in place of the one before, if it differs, and tells of it.
func (p *pair) replace(cert *tls.Certificate, d digest) error {
	if d == p.served {
		return nil
	}
	isFirst := p.cert.Load() == nil
	if err := p.take(cert, d); err != nil || isFirst {
		return err
	}
	p.tell(p.event("the certificate was read again"))
	return nil
}

// look takes a pair that has changed. Of one that cannot be used it tells when it
// finds it twice: whoever changes two files changes one of them first.
func (p *pair) look(context.Context) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, d, err := p.read()
	again := d == p.seen
	p.seen = d
	if err == nil {
		err = p.replace(cert, d)
	}
	switch {
	case err == nil:
		p.told = time.Time{}
	case again && p.now().Sub(p.told) >= remindEvery:
		p.told = p.now()
		e := p.event("a changed certificate cannot be used, and the old one stays")
		e.Err, e.Hint = err, "put a certificate and the key that belongs to it into tls.cert_file and tls.key_file"
		p.tell(e)
	}
	p.warn()
	return pairEvery
}

// warn tells of a certificate that ends soon.
func (p *pair) warn() {
	leaf, now := p.cert.Load().Leaf, p.now()
	left := leaf.NotAfter.Sub(now)
	if left > min(warnBefore, leaf.NotAfter.Sub(leaf.NotBefore)/warnFraction) || now.Sub(p.warned) < warnEvery {
		return
	}
	p.warned = now
	e := p.event("the certificate expires soon")
	if e.Err = errSoon; left <= 0 {
		e.Err = errExpired
	}
	e.Hint = "put a new one into tls.cert_file and tls.key_file; it is taken up by itself"
	p.tell(e)
}

// What warn tells.
var (
	errSoon    = errors.New("it was not replaced in time")
	errExpired = errors.New("it has expired, and browsers refuse it")
)

func (p *pair) event(text string) Event {
	e := Event{Text: text, Expires: p.cert.Load().Leaf.NotAfter}
	if names := p.names(); len(names) > 0 {
		e.Domain = names[0]
	}
	return e
}

func (p *pair) find(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.cert.Load(), nil }

func (p *pair) leaves() []*x509.Certificate { return []*x509.Certificate{p.cert.Load().Leaf} }

func (p *pair) names() []string { return slices.Clone(p.cert.Load().Leaf.DNSNames) }

// answer knows of no authority.
func (*pair) answer(string, string) (string, bool) { return "", false }
