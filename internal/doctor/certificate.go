package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// shortLife is how long before its end a certificate should have been renewed.
const shortLife = 14 * 24 * time.Hour

// checkCertificate looks at the certificate of --url: its chain, its name, its end.
func checkCertificate(ctx context.Context, s *Subject) []Finding {
	if s.URL == nil {
		return one(skipped("name the address with --url https://push.example.com"))
	}
	if s.URL.Scheme != "https" {
		return one(warning("put a proxy that does TLS in front; docs/proxies.md has three", "%s is not encrypted: whoever sees the traffic sees the secrets", s.URL.Redacted()))
	}
	roots, err := s.roots()
	if err != nil {
		return one(problem("name a file with certificates as PEM", "--ca-file: %v", err))
	}
	chain, err := presented(ctx, s.URL)
	if err != nil {
		return one(problem("see that a server listens there, and that this machine may reach it", "%s: %v", s.URL.Host, err))
	}
	return one(judgeCertificate(chain, s.URL.Hostname(), roots, s.Clock()))
}

// roots are those who may vouch for the server; nil: those whom the system trusts.
func (s *Subject) roots() (*x509.CertPool, error) {
	if s.CAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.CAFile)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", s.CAFile)
	}
	return roots, nil
}

// presented is the chain that a server shows, the server's own first, whoever has
// signed it.
func presented(ctx context.Context, u *url.URL) ([]*x509.Certificate, error) {
	d := tls.Dialer{Config: &tls.Config{
		ServerName:         u.Hostname(),
		InsecureSkipVerify: true, // judgeCertificate looks at it; nothing is sent
	}}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	return conn.(*tls.Conn).ConnectionState().PeerCertificates, nil
}

func judgeCertificate(chain []*x509.Certificate, host string, roots *x509.CertPool, now time.Time) Finding {
	leaf, between := chain[0], x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	const renew = "renew it, and see why that did not happen by itself"
	if now.After(leaf.NotAfter) {
		return problem(renew, "it ended at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if now.Before(leaf.NotBefore) {
		return problem("set the clock of this machine right, or wait", "it begins at %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return problem("get one for "+host, "it is for another name: %v", err)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now})
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return problem("have the server send the whole chain; or name the certificate of your own authority with --ca-file", "nobody whom this machine trusts vouches for it: %v", err)
	} else if err != nil {
		return problem("get another one", "%v", err)
	}
	if left := leaf.NotAfter.Sub(now); left < shortLife {
		return warning(renew, "it ends in %d days, at %s", int(left.Hours()/24), leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return fine("it is for %s until %s", host, leaf.NotAfter.UTC().Format(time.RFC3339))
}

// client makes requests of this machine, through no proxy but the one that is looked
// at, and follows nobody elsewhere.
func (s *Subject) client() (*http.Client, error) {
	roots, err := s.roots()
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout:       longest,
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
