package config

import (
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// letsEncrypt is the certificate authority that is asked where no other is named.
const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

const domainsKey = "tls.acme.domains"

// TLS says whether the server speaks HTTPS by itself, and with which certificate.
type TLS struct {
	// File with the certificate and those between it and its root, in PEM. It is
	// read again within seconds of a change, and on SIGHUP; a new pair of files that
	// does not fit together leaves the old one in use.
	CertFile string `mapstructure:"cert_file"`

	// File with the certificate's private key, in PEM.
	KeyFile string `mapstructure:"key_file"`

	// Address for plain HTTP, such as :80, which answers the certificate authority
	// (HTTP-01) and sends browsers on to HTTPS. Empty: none.
	RedirectListen string `mapstructure:"redirect_listen" form:"optional address"`

	// How long browsers are told to come over HTTPS alone (HSTS). 0: they are not
	// told.
	HSTS time.Duration `mapstructure:"hsts" min:"5m" max:"730d" off:"0"`

	// Certificates by ACME, for servers that the authority can reach at port 443 or,
	// through redirect_listen, at port 80 of each domain. They are kept in data_dir.
	ACME ACME `mapstructure:"acme"`
}

// ACME says which certificates are fetched, and where.
type ACME struct {
	// Domains to fetch a certificate for, one each; in the environment separated by
	// commas. With any of them given, you accept the terms of service of the
	// certificate authority. Empty: no ACME.
	Domains []string `mapstructure:"domains" form:"domains"`

	// Directory of the certificate authority; a private one, such as step-ca, will do.
	DirectoryURL string `mapstructure:"directory_url" form:"directory"`

	// File with the root certificate, in PEM, of the authority's own HTTPS. Empty:
	// what this machine trusts.
	CAFile string `mapstructure:"ca_file"`

	// Address that the authority may write to, given when the account there is made.
	Email string `mapstructure:"email" form:"email"`
}

// Enabled reports whether the server speaks HTTPS by itself.
func (t TLS) Enabled() bool { return t.CertFile != "" || len(t.ACME.Domains) > 0 }

func defaultTLS() TLS {
	return TLS{HSTS: 180 * day, ACME: ACME{Domains: []string{}, DirectoryURL: letsEncrypt}}
}

// checkTLS notes what of TLS does not fit together: whoever gives half of it
// would otherwise get plain HTTP.
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

// lonely notes a setting that was given and means nothing without another.
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

// optional reads no text as itself, and any other as it is told.
func optional(parse func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return parse(text)
	}
}

// parseDirectoryURL reads where an ACME server tells what it has.
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

// parseEmail reads an address of mail without a name.
func parseEmail(text string) (string, error) {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text {
		return "", errors.New("must be an address such as ann@example.com")
	}
	return text, nil
}

// parseDomains reads names of hosts, separated by commas.
func parseDomains(text string) ([]string, error) {
	domains := []string{}
	if text == "" {
		return domains, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		d, err := parseDomain(strings.TrimSpace(item))
		if slices.Contains(domains, d) {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, errors.New("entry " + strconv.Itoa(len(domains)+1) + " " + err.Error())
		}
		domains = append(domains, d)
	}
	return domains, nil
}

// parseDomain reads the name of a host that a certificate can be fetched for by
// HTTP-01 and TLS-ALPN-01.
func parseDomain(text string) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	text = strings.ToLower(text)
	if strings.HasPrefix(text, "*.") {
		return "", errors.New("must not have a star: such a certificate takes changes in the DNS; fetch it with another program, and name it in tls.cert_file")
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

func printDomains(domains []string) string {
	items := make([]string, len(domains))
	for i, d := range domains {
		items[i] = strconv.Quote(d)
	}
	return "[" + strings.Join(items, ", ") + "]"
}
