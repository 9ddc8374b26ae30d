package certs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/durable"
)

const (
	pairEvery    = 10 * time.Second // between two reads of the files
	maxPEM       = 1 << 20          // bytes of a file
	remindEvery  = time.Hour        // while the pair cannot be used
	warnEvery    = 24 * time.Hour   // while the certificate is about to expire
	warnBefore   = 7 * 24 * time.Hour
	warnFraction = 5 // warn in the last fifth of its validity, if that is less
)

// A pair is a certificate and its key, in two files that another program writes.
type pair struct {
	certFile, keyFile string
	host              string // that browsers ask for; empty: not known
	tell              func(Event)
	now               func() time.Time
	cert              atomic.Pointer[tls.Certificate] // never nil

	mu           sync.Mutex
	servedDigest digest    // of the files of cert
	seenDigest   digest    // of the files at the last look
	lastErrorAt  time.Time // when an unusable pair was reported
	lastWarnedAt time.Time // when the end of cert's validity was reported
}

type digest [sha256.Size]byte

func openPair(certFile, keyFile string, o Options) (*pair, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, host: hostOf(o.Config.BaseURL), tell: o.Tell, now: o.Now}
	if err := p.reload(); err != nil {
		return nil, err
	}
	return p, nil
}

// ReadPair returns the certificate in a pair of files. It fails if a server could not use the
// pair; Hint says what to do then.
func ReadPair(certFile, keyFile string) (*x509.Certificate, error) {
	cert, _, err := readPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return cert.Leaf, nil
}

// readPair reads both files. The digest covers their contents, or the error of reading them.
func readPair(certFile, keyFile string) (cert *tls.Certificate, d digest, err error) {
	certPEM, certErr := durable.ReadBounded(certFile, maxPEM)
	keyPEM, keyErr := durable.ReadBounded(keyFile, maxPEM)
	defer clear(keyPEM)
	if err := errors.Join(unread("tls.cert_file", certErr), unread("tls.key_file", keyErr)); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), err
	}
	h := sha256.New()
	for _, part := range [][]byte{certPEM, keyPEM} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	d = digest(h.Sum(nil))
	made, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil && isEncrypted(keyPEM) {
		err = ErrPassphrase
	}
	if err != nil {
		return nil, d, fmt.Errorf("%s and %s: %w", certFile, keyFile, err)
	}
	return &made, d, nil
}

func unread(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// ErrPassphrase says that the key of a pair is encrypted with a passphrase.
var ErrPassphrase = errors.New("the key is encrypted with a passphrase, which pushbox does not support")

// isEncrypted reports whether a private key in PEM is encrypted: as PKCS #8 (RFC 5958), or
// as RFC 1421 has it.
func isEncrypted(key []byte) bool {
	return bytes.Contains(key, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----")) || bytes.Contains(key, []byte("Proc-Type: 4,ENCRYPTED"))
}

// Hint returns the hint for an error of New or Reload.
func Hint(err error) string {
	if errors.Is(err, ErrPassphrase) {
		return "remove the passphrase: openssl pkey -in ENCRYPTED -out KEY; then name KEY in tls.key_file, readable to the server's user alone"
	}
	return "check tls.cert_file and tls.key_file: they must exist and belong together, and the server's user must be able to read them (docs/tls.md)"
}

// take puts a pair in use, unless it has expired and the one in use has not.
func (p *pair) take(cert *tls.Certificate, d digest) error {
	old, now := p.cert.Load(), p.now()
	if old != nil && now.After(cert.Leaf.NotAfter) && !now.After(old.Leaf.NotAfter) {
		return fmt.Errorf("%s: the certificate expired at %s", p.certFile, cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	p.lastWarnedAt = time.Time{}
	p.cert.Store(cert)
	p.servedDigest = d
	if err := faultOf(p.leaves(), p.host); err != nil {
		e := p.event("browsers refuse the certificate")
		e.Err, e.Hint = err, FaultHint
		p.tell(e)
	}
	return nil
}

func (p *pair) reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, d, err := readPair(p.certFile, p.keyFile)
	if err != nil {
		return err
	}
	return p.replace(cert, d)
}

// replace puts a pair in use if it differs from the one in use, and reports it.
func (p *pair) replace(cert *tls.Certificate, d digest) error {
	if d == p.servedDigest {
		return nil
	}
	isFirst := p.cert.Load() == nil
	if err := p.take(cert, d); err != nil || isFirst {
		return err
	}
	p.tell(p.event("the certificate was read again"))
	return nil
}

// look reads a changed pair. It reports a pair that cannot be used when it sees it for the
// second time: a program that writes two files writes one of them first.
func (p *pair) look(context.Context) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, d, err := readPair(p.certFile, p.keyFile)
	again := d == p.seenDigest
	p.seenDigest = d
	if err == nil {
		err = p.replace(cert, d)
	}
	switch {
	case err == nil:
		p.lastErrorAt = time.Time{}
	case again && p.now().Sub(p.lastErrorAt) >= remindEvery:
		p.lastErrorAt = p.now()
		e := p.event("the changed certificate cannot be used; the old one stays in use")
		e.Err, e.Hint = err, Hint(err)
		p.tell(e)
	}
	p.warn()
	return pairEvery
}

func (p *pair) warn() {
	leaf, now := p.cert.Load().Leaf, p.now()
	left := leaf.NotAfter.Sub(now)
	if left > min(warnBefore, leaf.NotAfter.Sub(leaf.NotBefore)/warnFraction) || now.Sub(p.lastWarnedAt) < warnEvery {
		return
	}
	p.lastWarnedAt = now
	e := p.event("the certificate expires soon")
	if e.Err = errSoon; left <= 0 {
		e.Err = errExpired
	}
	e.Hint = "put a new one into tls.cert_file and tls.key_file; pushbox reads it without a restart"
	p.tell(e)
}

// The errors that warn reports.
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

// answer has no proof: no authority asks for one.
func (*pair) answer(string, string) (string, bool) { return "", false }
