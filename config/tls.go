package config

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"pushbox/internal/email"
)

// letsEncrypt is the default certificate authority.
const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

const domainsKey = "tls.acme.domains"

// TLS says whether the server speaks HTTPS by itself, and with which certificate.
type TLS struct {
	// File with the certificate, followed by the intermediate ones, in PEM. It is read
	// again within seconds of a change, and on SIGHUP. If a new certificate and key do
	// not fit together, the old ones stay in use.
	CertFile string `mapstructure:"cert_file"`

	// File with the certificate's private key, in PEM.
	KeyFile string `mapstructure:"key_file"`

	// Address for plain HTTP, such as :80, which answers the certificate authority
	// (HTTP-01) and redirects browsers to HTTPS. Empty: none.
	RedirectListen string `mapstructure:"redirect_listen" form:"optional address"`

	// How long browsers must use HTTPS only (HSTS). 0: the server does not tell them.
	HSTS time.Duration `mapstructure:"hsts" min:"5m" max:"730d" off:"0"`

	// Certificates by ACME, for servers that the authority can reach on port 443 or,
	// through redirect_listen, on port 80 of each domain. They are kept in data_dir.
	ACME ACME `mapstructure:"acme"`
}

// ACME says which certificates are fetched, and where.
type ACME struct {
	// Domains to fetch a certificate for, one each. By setting them you accept the
	// terms of service of the certificate authority. In the environment: separated by
	// commas. Empty: no ACME.
	Domains []string `mapstructure:"domains" form:"domains"`

	// Directory URL of the certificate authority; it may be a private one, such as
	// step-ca.
	DirectoryURL string `mapstructure:"directory_url" form:"directory"`

	// File with the root certificate, in PEM, of the authority's own HTTPS. Empty: the
	// certificates that this machine trusts.
	CAFile string `mapstructure:"ca_file"`

	// E-mail address for the authority, given when pushbox creates its account there.
	Email string `mapstructure:"email" form:"email"`
}

// Enabled reports whether the server speaks HTTPS by itself.
func (t TLS) Enabled() bool { return t.CertFile != "" || len(t.ACME.Domains) > 0 }

func defaultTLS() TLS {
	return TLS{HSTS: 180 * day, ACME: ACME{Domains: []string{}, DirectoryURL: letsEncrypt}}
}

// checkTLS notes settings of TLS that do not fit together: half a configuration
// must not end in plain HTTP.
func (l *loader) checkTLS(cfg Config) {
	t := cfg.TLS
	byACME := len(t.ACME.Domains) > 0
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		l.relation("tls.cert_file", "cannot be given without", "tls.key_file")
	case t.KeyFile != "" && t.CertFile == "":
		l.relation("tls.key_file", "cannot be given without", "tls.cert_file")
	case t.CertFile != "" && byACME:
		l.relation("tls.cert_file", "cannot be given together with", domainsKey)
	}
	if !byACME {
		l.lonely("tls.acme.directory_url", t.ACME.DirectoryURL != letsEncrypt, domainsKey)
		l.lonely("tls.acme.ca_file", t.ACME.CAFile != "", domainsKey)
		l.lonely("tls.acme.email", t.ACME.Email != "", domainsKey)
	}
	if !t.Enabled() && t.KeyFile == "" {
		l.lonely("tls.redirect_listen", t.RedirectListen != "", "tls.cert_file or tls.acme.domains")
	}
	if t.Enabled() && strings.HasPrefix(cfg.BaseURL, "http://") {
		l.relation("base_url", "must begin with https:// together with", tlsKey(byACME))
	}
}

// lonely notes a setting that is set but means nothing without another.
func (l *loader) lonely(key string, isGiven bool, without string) {
	if isGiven {
		l.relation(key, "means nothing without "+without)
	}
}

// tlsKey is the setting that turned TLS on.
func tlsKey(byACME bool) string {
	if byACME {
		return domainsKey
	}
	return "tls.cert_file"
}

// optional returns a parser that accepts an empty text and parses any other.
func optional(parse func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return parse(text)
	}
}

// parseDirectoryURL reads the directory URL of an ACME server.
func parseDirectoryURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("must be a URL that begins with https:// and a host")
	case u.User != nil:
		return "", errors.New("must not have a user name or a password")
	}
	return u.String(), nil
}

// parseEmail reads an e-mail address without a name.
func parseEmail(text string) (string, error) {
	if !email.IsAddress(text) {
		return "", errors.New("must be an address such as ann@example.com")
	}
	return text, nil
}

// parseAccount reads the address of an account, in the form in which accounts have it.
func parseAccount(text string) (string, error) { return parseEmail(strings.ToLower(text)) }

// parseDomains reads domains, separated by commas. It refuses a domain that is there twice.
func parseDomains(text string) ([]string, error) {
	var seen []string
	return parseList(func(item string) (string, error) {
		d, err := parseDomain(item)
		if err == nil && slices.Contains(seen, d) {
			err = errors.New("is there twice")
		}
		seen = append(seen, d)
		return d, err
	})(text)
}

// parseDomain reads the name of a host that a certificate can be fetched for by
// HTTP-01 and TLS-ALPN-01.
func parseDomain(text string) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	text = strings.ToLower(text)
	if strings.HasPrefix(text, "*.") {
		return "", errors.New("must not have a star: such a certificate needs changes in the DNS; fetch it with another program, and name it in tls.cert_file")
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return "", errors.New("must be a name, not an address")
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, letters) != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return "", errors.New("must be a domain such as push.example.com, without scheme and port, in ASCII (xn--…)")
		}
	}
	if len(text) > 253 {
		return "", errors.New("must not be longer than 253 characters")
	}
	return text, nil
}
