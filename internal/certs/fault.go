package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
)

// FaultHint is what to do about an error of Fault.
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

// hostOf returns the host of base_url; empty if that is not set.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
