package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/secret"
)

func parsePath(text string) (string, error) {
	if text == "" {
		return "", errors.New("must not be empty")
	}
	return parseText(text)
}

// parseAddress reads what a listener takes: a host, which may be empty, and a
// port as a number.
func parseAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !isPort(port) || strings.ContainsAny(host, " /") {
		return "", errors.New("must be an address and a port, such as 127.0.0.1:5100")
	}
	return parseText(text)
}

func isPort(text string) bool {
	n, err := parseWhole(text)
	return err == nil && n <= 65535
}

// parseBaseURL reads the beginning of links, and drops slashes at its end.
func parseBaseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // the error quotes the text, which may contain a password
		return "", errors.New("must be a URL such as https://push.example.com")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("must begin with https:// or http:// and a host")
	case u.User != nil:
		return "", errors.New("must not have a user name or a password")
	case strings.ContainsAny(text, "?#"):
		return "", errors.New("must not have a query or a fragment")
	case u.Port() == "0" || u.Port() != "" && !isPort(u.Port()):
		return "", errors.New("must have a port from 1 to 65535, or none")
	}
	if _, err := parseBasePath(u.EscapedPath()); err != nil {
		return "", errors.New("must not have this path: only that of base_path, or none")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// databaseForms are the forms of the address of a database, for "must be …".
const databaseForms = "an address such as postgres://USER:PASSWORD@HOST/NAME, or words such as host=/run/postgresql"

// parseDatabase reads the address of a PostgreSQL database, as far as it shows that it is one.
func parseDatabase(text string) (secret.Text, error) {
	scheme, _, isURL := strings.Cut(text, "://")
	if text != "" && scheme != "postgres" && scheme != "postgresql" && (isURL || !strings.Contains(text, "=")) {
		return secret.Text{}, errors.New("must be " + databaseForms)
	}
	return parseSecret(text)
}

// contactForms are the forms of a contact, for "must be …".
const contactForms = "an address such as mailto:security@example.com or https://example.com/security"

// parseContact reads the URI of a contact (RFC 9116 section 2.5.3), which becomes a line of a
// file for programs, so it is in ASCII and without spaces.
func parseContact(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("must be in ASCII, without spaces")
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("must be " + contactForms)
	}
	to, isAddress := strings.CutPrefix(text, "mailto:")
	switch {
	case isAddress && email.IsSendable(to):
	case u.Scheme == "https" && u.Hostname() != "" && u.User == nil:
	default:
		return "", errors.New("must be " + contactForms)
	}
	return text, nil
}

// parseRegexp reads a regular expression (RE2), which must match a whole text.
func parseRegexp(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	if _, err := regexp.Compile(`^(?:` + text + `)$`); err != nil {
		return "", errors.New(`must be a regular expression such as .+@example\.com`)
	}
	return text, nil
}

// parseDay reads a day.
func parseDay(text string) (string, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", errors.New("must be a day such as 2027-01-31")
	}
	return text, nil
}

// parsePrefix reads a network, or an address as a network of one.
func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, errors.New("must be an address or a network such as 10.0.0.0/8")
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	switch {
	case p.Addr().Is4In6():
		return netip.Prefix{}, errors.New("must be written as IPv4")
	case p != p.Masked():
		return netip.Prefix{}, errors.New("has bits beyond its prefix length; did you mean " + p.Masked().String() + "?")
	}
	return p, nil
}
