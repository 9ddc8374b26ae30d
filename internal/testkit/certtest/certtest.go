// Package certtest makes certificates for servers of tests.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// New makes a certificate authority, and a certificate for a name or an
// address that it signs.
func New(t testing.TB, name string) (certificate tls.Certificate, authority []byte) {
	t.Helper()
	root := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority for a test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := env.Must(x509.CreateCertificate(rand.Reader, ca, ca, root.Public(), root))(t)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		leaf.IPAddresses = []net.IP{ip}
	} else {
		leaf.DNSNames = []string{name}
	}
	key := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	signed := env.Must(x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), root))(t)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// PEM returns a certificate and its key as files have them.
func PEM(t testing.TB, c tls.Certificate) (certificate, key []byte) {
	t.Helper()
	der := env.Must(x509.MarshalPKCS8PrivateKey(c.PrivateKey))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
