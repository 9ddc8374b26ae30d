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

// How long before its end a certificate should have been renewed.
const (
	shortLife    = 14 * 24 * time.Hour
	lifeFraction = 4 // of its time, for one that is good for less than eight weeks
)

// checkCertificate looks at the certificate of --url: its chain, its name, its end;
// without that, at the end of the server's own.
func checkCertificate(ctx context.Context, s *Subject) []Finding {
	if s.URL == nil {
		return one(s.ownCertificate())
	}
	if s.URL.Scheme != "https" {
		return one(warning("let the server speak HTTPS, as docs/tls.md says, or put a proxy that does in front, as docs/proxies.md says", "%s is not encrypted: whoever sees the traffic sees the secrets", s.URL.Redacted()))
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

// ownCertificate judges when the certificate ends that the server shows itself.
func (s *Subject) ownCertificate() Finding {
	switch {
	case !s.Config.TLS.Enabled():
		return s.nameURL()
	case !s.Running || s.Facts == nil:
		return skipped("no server is running that shows one")
	case s.Facts.CertTo.IsZero():
		return problem("see the server's log, which has a hint", "none was fetched yet, and so there is no HTTPS")
	}
	f := judgeLife(s.Facts.CertFrom, s.Facts.CertTo, s.Clock())
	if f.Grade == OK {
		f.Text += "; --url looks at what clients are shown"
	}
	return f
}

// nameURL says with which flag there would be something to look at.
func (s *Subject) nameURL() Finding {
	return skipped("name the address with --url %s", cmp.Or(s.Config.BaseURL, "https://push.example.com"))
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
	if f := judgeLife(leaf.NotBefore, leaf.NotAfter, now); f.Grade == Problem {
		return f
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
	f := judgeLife(leaf.NotBefore, leaf.NotAfter, now)
	if f.Grade == OK {
		return fine("it is for %s until %s", host, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return f
}

// judgeLife says whether a certificate is good, and should have been replaced.
func judgeLife(from, to, now time.Time) Finding {
	const renew = "renew it, and see why that did not happen by itself"
	end, left := to.UTC().Format(time.RFC3339), to.Sub(now)
	switch {
	case left < 0:
		return problem(renew, "it ended at %s", end)
	case now.Before(from):
		return problem("set the clock of this machine right, or wait", "it begins at %s", from.UTC().Format(time.RFC3339))
	case left < min(shortLife, to.Sub(from)/lifeFraction):
		return warning(renew, "it ends in %s, at %s", inWords(left), end)
	}
	return fine("it is good until %s", end)
}

// inWords is a time of days or, if it is short, of hours and minutes.
func inWords(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%d days", d/day)
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
