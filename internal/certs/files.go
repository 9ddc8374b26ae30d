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

// files are the files of one certificate authority. They have a directory of their own, so
// that a certificate of a test authority is never shown in place of a real one.
type files struct{ dir string }

// openFiles makes the directory, and those above it, durably.
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

// authorityName returns the name of an authority's directory: host, port and path, without
// characters that have a meaning in paths.
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

func (f files) load(domain string) (*tls.Certificate, error) {
	path := f.certificate(domain)
	if err := durable.RemoveLeftovers(path); err != nil {
		return nil, err
	}
	text, err := durable.ReadBounded(path, maxPEM)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	return certificateFor(domain, text)
}

// certificateFor reads a key and a chain of certificates, which must be for the domain.
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

func (f files) account() (crypto.Signer, error) {
	path := filepath.Join(f.dir, accountName)
	text, err := durable.ReadBounded(path, maxPEM)
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

var errNoKey = errors.New("it has no private key: move it away, and pushbox creates a new account")

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

// ReadRoots reads the certificates of authorities from a file in PEM. If withSystem is set,
// it adds those that the system trusts.
func ReadRoots(path string, withSystem bool) (*x509.CertPool, error) {
	text, err := durable.ReadBounded(path, maxPEM)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if system, err := x509.SystemCertPool(); withSystem && err == nil { // some systems have none
		roots = system
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, noRoots(path, text)
	}
	return roots, nil
}

// Roots returns the certificates of authorities in a file that a setting names; nil if it names none.
func Roots(file, setting string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	roots, err := ReadRoots(file, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return roots, nil
}

func noRoots(path string, text []byte) error {
	if _, err := x509.ParseCertificate(text); err == nil {
		return fmt.Errorf("%s has a certificate in DER; make it PEM: openssl x509 -inform der -in %[1]s -out %[1]s.pem", path)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("%s has a certificate that cannot be used: %w", path, err)
		}
	}
	return fmt.Errorf("%s has no certificate in PEM", path)
}
