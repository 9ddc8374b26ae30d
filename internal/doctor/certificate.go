package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"time"

	"pushbox/internal/certs"
	"pushbox/internal/humanize"
	"pushbox/internal/rights"
)

// A certificate should be renewed this long before it ends.
const (
	shortLife    = 14 * 24 * time.Hour
	lifeFraction = 4 // fraction of its time, for one that is valid for less than eight weeks
)

// checkCertificate checks the certificate of --url: its chain, its name, its end. Without
// --url it checks the end of the server's own certificate. With both, it checks the files
// that the server reads next.
func checkCertificate(ctx context.Context, s *Subject) []Finding {
	f, wrong := s.judgePair()
	switch {
	case !wrong:
		return s.shownCertificate(ctx)
	case s.Running:
		return append(s.shownCertificate(ctx), f)
	}
	return one(f)
}

// judgePair reports a pair of files that a server cannot or will not use: then it uses another one.
// checkSecrets reports files that cannot be read.
func (s *Subject) judgePair() (f Finding, wrong bool) {
	t := s.Config.TLS
	if t.CertFile == "" {
		return f, false
	}
	leaf, err := certs.ReadPair(t.CertFile, t.KeyFile)
	switch unread := (*fs.PathError)(nil); {
	case errors.As(err, &unread):
		return f, false
	case err != nil && s.Running:
		return warning(certs.Hint(err), "the server keeps the certificate that it has, since it cannot use the files: %v", err), true
	case err != nil:
		return problem(certs.Hint(err), "the server cannot start with these files: %v", err), true
	case s.Running && s.Facts != nil && leaf.NotAfter.Before(s.Clock()) && s.Facts.CertTo.After(s.Clock()):
		return warning("put the new certificate there", "the server keeps the certificate that it has, since the one in %s expired at %s", t.CertFile, leaf.NotAfter.UTC().Format(time.RFC3339)), true
	}
	return f, false
}

// shownCertificate checks the certificate that the server shows.
func (s *Subject) shownCertificate(ctx context.Context) []Finding {
	if s.URL == nil {
		return one(s.ownCertificate())
	}
	if s.URL.Scheme != "https" {
		return one(warning("set up HTTPS in the server (docs/tls.md) or in a proxy (docs/proxies.md)", "%s is not encrypted: secrets can be read on the way", s.URL.Redacted()))
	}
	roots, err := s.roots()
	if err != nil {
		return one(problem("name a file with certificates as PEM", "--ca-file: %v", err))
	}
	chain, err := presented(ctx, s.URL)
	if err != nil {
		return one(problem("check that a server listens there, and that this machine can reach it", "%s: %v", s.URL.Host, err))
	}
	return one(judgeCertificate(chain, s.URL.Hostname(), roots, s.Clock()))
}

// ownCertificate judges the end of the certificate that the server itself shows.
func (s *Subject) ownCertificate() Finding {
	switch {
	case !s.Config.TLS.Enabled():
		return s.nameURL()
	case !s.Running:
		return skipped("no server is running")
	case s.Facts == nil:
		return skipped("the server does not report it")
	case s.Facts.CertTo.IsZero():
		return problem("see the server's log, which has a hint", "no certificate was fetched yet, so there is no HTTPS")
	case s.Facts.CertFault != "":
		return problem(certs.FaultHint, "browsers refuse it: %s", s.Facts.CertFault)
	}
	f := judgeLife(s.Facts.CertFrom, s.Facts.CertTo, s.Clock())
	if f.Grade == OK {
		f.Text += "; use --url to check what clients see"
	}
	return f
}

func (s *Subject) nameURL() Finding {
	return skipped("name the address with --url %s", cmp.Or(s.Config.BaseURL, "https://push.example.com"))
}

// roots returns the certificate authorities to trust; nil: those that the system trusts.
func (s *Subject) roots() (*x509.CertPool, error) {
	if s.CAFile == "" {
		return nil, nil
	}
	return rights.Read(s.CAFile, func() (*x509.CertPool, error) { return certs.ReadRoots(s.CAFile, true) })
}

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
	if f := judgeLife(leaf.NotBefore, leaf.NotAfter, now); f.Grade == Problem {
		return f
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return problem("get a certificate for "+host, "the certificate is for another name: %v", err)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now})
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return problem("let the server send the whole chain, or name your own authority with --ca-file", "this machine does not trust its issuer: %v", err)
	} else if err != nil {
		return problem("get another certificate", "%v", err)
	}
	f := judgeLife(leaf.NotBefore, leaf.NotAfter, now)
	if f.Grade == OK {
		return fine("it is for %s until %s", host, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return f
}

// judgeLife judges whether a certificate is valid, and whether its renewal is late.
func judgeLife(from, to, now time.Time) Finding {
	const renew = "renew it, and find out why it was not renewed automatically"
	end, left := to.UTC().Format(time.RFC3339), to.Sub(now)
	switch {
	case left < 0:
		return problem(renew, "it expired at %s", end)
	case now.Before(from):
		return problem("correct the clock of this machine, or wait", "it is not valid before %s", from.UTC().Format(time.RFC3339))
	case left < min(shortLife, to.Sub(from)/lifeFraction):
		return warning(renew, "it expires in %s, at %s", humanize.Duration(left), end)
	}
	return fine("it is valid until %s", end)
}

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
