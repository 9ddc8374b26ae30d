package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"pushbox/internal/durable"
)

const (
	filesMode   = 0o700
	accountName = "account.key"
	keyBlock    = "PRIVATE KEY" // of PKCS #8
)

// files are what is kept of one certificate authority: in a directory of its own,
// so that what a test authority has signed is not shown in place of what the
// real one would.
type files struct{ dir string }

// openFiles makes the directory, and those above it, for good.
func openFiles(root, directoryURL string) (files, error) {
	u, err := url.Parse(directoryURL)
	if err != nil {
		return files{}, err
	}
	f := files{filepath.Join(root, authorityName(u))}
	if err := os.MkdirAll(f.dir, filesMode); err != nil {
		return files{}, err
	}
	return f, errors.Join(durable.SyncDir(filepath.Dir(root)), durable.SyncDir(root))
}

// authorityName is a name for a directory: host, port and path, of which nothing
// leads elsewhere.
func authorityName(u *url.URL) string {
	plain := func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}
	return "ca-" + strings.Trim(strings.Map(plain, strings.ToLower(u.Host+u.Path)), "-.")
}

func (f files) certificate(domain string) string { return filepath.Join(f.dir, domain+".pem") }

// load returns the certificate that was kept for a domain, whether it is good
// still or not. fs.ErrNotExist if there is none.
func (f files) load(domain string) (*tls.Certificate, error) {
	path := f.certificate(domain)
	if err := durable.RemoveLeftovers(path); err != nil {
		return nil, err
	}
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	return certificateFor(domain, text)
}

// certificateFor reads a key and a chain of certificates that must be for a domain.
func certificateFor(domain string, text []byte) (*tls.Certificate, error) {
	cert, err := tls.X509KeyPair(text, text)
	if err == nil {
		err = cert.Leaf.VerifyHostname(domain)
	}
	if err != nil {
		return nil, err
	}
	return &cert, nil
}

// save keeps the key and the chain of a domain, in one file, in one step.
func (f files) save(domain string, text []byte) error {
	return durable.WriteFile(f.certificate(domain), text)
}

// account returns the key of the account at the authority, made if there is none.
func (f files) account() (crypto.Signer, error) {
	path := filepath.Join(f.dir, accountName)
	text, err := readBounded(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key, text, err := newKey()
		if err != nil {
			return nil, err
		}
		return key, durable.WriteFile(path, text)
	case err != nil:
		return nil, err
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// newKey returns a new key, and as PEM.
func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}

var errNoKey = errors.New("it holds no private key; with it moved away, a new account is made")

func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != keyBlock {
		return nil, errNoKey
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errNoKey
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errNoKey
	}
	return signer, nil
}
