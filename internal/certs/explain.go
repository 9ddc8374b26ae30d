package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"github.com/mholt/acmez/v3/acme"
)

const (
	cureReach = "the certificate authority must reach this server by the domain, at port 443 or, with tls.redirect_listen, at port 80: look at the DNS and the firewall"
	cureTrust = "name the file with the root certificate that signs the authority's own HTTPS in tls.acme.ca_file, and look at tls.acme.directory_url and the clock"
	cureDown  = "the certificate authority does not answer: look at tls.acme.directory_url and at this machine's network"
	cureOther = "see what the certificate authority says"
)

// explain tells what to do about an order that failed.
func explain(err error) string {
	if p := (acme.Problem{}); errors.As(err, &p) {
		return explainProblem(p)
	}
	unknown, wrongHost, invalid := x509.UnknownAuthorityError{}, x509.HostnameError{}, x509.CertificateInvalidError{}
	if errors.As(err, &unknown) || errors.As(err, &wrongHost) || errors.As(err, &invalid) {
		return cureTrust
	}
	if n := net.Error(nil); errors.As(err, &n) || errors.Is(err, context.DeadlineExceeded) {
		return cureDown
	}
	return cureOther
}

// explainProblem tells what to do about what the authority complains of (RFC 8555
// section 6.7).
func explainProblem(p acme.Problem) string {
	switch strings.TrimPrefix(p.Type, acme.ProblemTypeNamespace) {
	case "connection", "dns", "tls", "unauthorized", "incorrectResponse":
		return cureReach
	case "caa":
		return "a CAA record of the domain's DNS forbids this certificate authority: change it, or ask another authority"
	case "rateLimited":
		return "too much was ordered there of late; it gets better by waiting"
	case "rejectedIdentifier", "unsupportedIdentifier":
		return "this certificate authority signs no such name: see tls.acme.domains, or ask another authority"
	case "invalidContact", "unsupportedContact":
		return "give another address in tls.acme.email, or none"
	case "externalAccountRequired":
		return "this certificate authority wants accounts that were made with it before, which is not supported: ask another"
	case "accountDoesNotExist":
		return "move account.key away from the directory of this authority, in acme in data_dir: a new account is made then"
	case "serverInternal":
		return "it is a fault of the certificate authority"
	default:
		return cureOther
	}
}
