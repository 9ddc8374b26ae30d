package config

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/clientip"
	"pushbox/internal/email"
	"pushbox/internal/secret"
)

// Prefixes of the forms of a listener other than a host and a port.
const (
	UnixPrefix    = "unix:"    // the path of a Unix socket follows
	SystemdPrefix = "systemd:" // the name of a socket that systemd has opened follows
)

// What texts must be.
const (
	addressForm   = "an address such as ann@example.com"
	contactForms  = "an address such as mailto:security@example.com or https://example.com/security"
	directoryForm = "a URL such as https://ca.example.com/acme/acme/directory, without a user name"
	databaseForms = "an address such as postgres://USER:PASSWORD@HOST/NAME, or words such as host=/run/postgresql"
	listenForms   = "an address and a port, such as 127.0.0.1:5100, or unix:/PATH, or systemd:NAME"
	portForm      = "an address and a port, such as 127.0.0.1:5100"
	regexpForm    = `a regular expression such as .+@example\.com`
)

func parseName(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	return parseText(text)
}

func parseListen(text string) (string, error) {
	if path, ok := strings.CutPrefix(text, UnixPrefix); ok {
		if path == "" || path[0] == '@' { // an abstract socket, which every process can reach
			return "", errors.New("must have the path of a socket after unix:, such as unix:/run/pushbox/pushbox.sock")
		}
		return parseText(text)
	}
	if name, ok := strings.CutPrefix(text, SystemdPrefix); ok {
		if !isSocketName(name) {
			return "", errors.New("must have the FileDescriptorName of a socket after systemd:, such as systemd:pushbox.socket")
		}
		return text, nil
	}
	return such(listenForms, isListenAddress)(text)
}

// isSocketName reports whether systemd accepts the name for a file descriptor
// (systemd.socket(5), FileDescriptorName=).
func isSocketName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(c rune) bool { return isOdd(c) || c == ':' })
}

// isListenAddress reports whether a text is a host, which may be empty, and a port as a number.
func isListenAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = parseText(host)
	}
	return err == nil && isPort(port) && !strings.ContainsAny(host, " /")
}

func isPort(text string) bool {
	n, err := parseWhole(text)
	return err == nil && n <= 65535
}

// isOdd reports whether a character is no ASCII character, or cannot be seen.
func isOdd(c rune) bool { return c <= ' ' || c > '~' }

func isLetterOrDigit(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func parseMode(text string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 16)
	mode := fs.FileMode(n)
	switch {
	case err != nil || mode&^fs.ModePerm != 0:
		return 0, errors.New("must be permissions in octal, such as 0660")
	case mode&0o600 != 0o600:
		return 0, errors.New("must let the owner read and write, as 0660 does")
	}
	return mode, nil
}

func printMode(mode fs.FileMode) string {
	return strconv.Quote("0" + strconv.FormatUint(uint64(mode), 8))
}

// parseBasePath reads a base path, and drops slashes at its end. Every link contains it.
func parseBasePath(text string) (string, error) {
	path := strings.TrimRight(text, "/")
	for i, part := range strings.Split(path, "/") {
		odd := func(c rune) bool { return !isLetterOrDigit(c) && !strings.ContainsRune("-._~", c) }
		if (part == "") != (i == 0) || part == "." || part == ".." || strings.ContainsFunc(part, odd) || len(path) > 128 {
			return "", errors.New("must be a path such as /push, of at most 128 letters, digits, dots, dashes and underscores")
		}
	}
	return path, nil
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
		return "", errors.New("must have the path of base_path, or none")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// parseIssuer reads the address of a provider. Only on this machine it may do without TLS.
func parseIssuer(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#"):
		return "", errors.New("must be a URL such as https://id.example.com, without a query")
	case u.Scheme != "https" && (u.Scheme != "http" || !clientip.IsLoopback(u.Hostname())):
		return "", errors.New("must begin with https://")
	}
	return text, nil
}

// parseContact reads the URI of a contact (RFC 9116 section 2.5.3), which becomes a line of a
// file for programs, so it is in ASCII and without spaces.
func parseContact(text string) (string, error) {
	if strings.ContainsFunc(text, isOdd) {
		return "", errors.New("must be in ASCII, without spaces")
	}
	return such(contactForms, func(text string) bool {
		to, isAddress := strings.CutPrefix(text, "mailto:")
		return isAddress && email.IsSendable(to) || isHTTPS(text)
	})(text)
}

// isHTTPS reports whether a text is a URL of HTTPS without a user name or a password.
func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// parseDatabase reads the address of a PostgreSQL database, as far as it shows that it is one.
func parseDatabase(text string) (secret.Text, error) {
	scheme, _, isURL := strings.Cut(text, "://")
	if text != "" && scheme != "postgres" && scheme != "postgresql" && (isURL || !strings.Contains(text, "=")) {
		return secret.Text{}, errors.New("must be " + databaseForms)
	}
	return parseSecret(text)
}

func parseCommand(text string) ([]string, error) {
	all, err := parseList(parseText)(text)
	if err == nil && len(all) > 0 && !filepath.IsAbs(all[0]) {
		return nil, errors.New("must begin with the absolute path of a program")
	}
	return all, err
}

// parseAccount reads the address of an account, in the form in which accounts have it.
func parseAccount(text string) (string, error) {
	return such(addressForm, email.IsAddress)(strings.ToLower(text))
}

// isRegexp reports whether a text is a regular expression (RE2), which must match a whole text.
func isRegexp(text string) bool {
	_, err := regexp.Compile(`^(?:` + text + `)$`)
	return text != "" && err == nil
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// isRecipient reports whether a text can be an age recipient. Its checksum is verified only
// when something is encrypted to it.
func isRecipient(text string) bool {
	rest, ok := strings.CutPrefix(text, "age1")
	return ok && rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// isWord reports whether a text is a word for addresses.
func isWord(text string) bool {
	return text != "" && len(text) <= 32 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isScope reports whether a text is a scope (RFC 6749 section 3.3).
func isScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text, isOdd) && !strings.ContainsAny(text, `"\`)
}

// isHeader reports whether a text is the name of a header (RFC 9110 section 5.1), or empty.
func isHeader(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !isLetterOrDigit(c) && c != '-' })
}

// isHostName reports whether a text is the name of a host, in ASCII.
func isHostName(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		odd := func(c rune) bool { return !isLetterOrDigit(c) && c != '-' && c != '_' }
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, odd) {
			return false
		}
	}
	return len(text) <= 253
}

// parseHost reads the name of a host, and returns it in the form for comparison: in lower case,
// without a dot at the end, an address without brackets.
func parseHost(text string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	host := strings.TrimSuffix(strings.ToLower(text), ".")
	if !isHostName(strings.TrimPrefix(host, "*.")) {
		return "", errors.New("must be a host without a port, such as push.example.com, *.example.com or 192.0.2.7; letters other than a to z in the form xn--…")
	}
	return host, nil
}

func parseDomains(text string) ([]string, error) {
	var seen []string
	return parseList(func(item string) (string, error) {
		d, err := parseDomain(item)
		if err == nil && slices.Contains(seen, d) {
			err = errors.New("is in the list twice")
		}
		seen = append(seen, d)
		return d, err
	})(text)
}

// parseDomain reads the name of a host that a certificate can be fetched for by
// HTTP-01 and TLS-ALPN-01.
func parseDomain(text string) (string, error) {
	text = strings.ToLower(text)
	_, notAddress := netip.ParseAddr(text)
	labels := "." + text + "."
	switch {
	case strings.HasPrefix(text, "*."):
		return "", errors.New("must not have a star: such a certificate needs changes in the DNS; fetch it with another program, and name it in tls.cert_file")
	case notAddress == nil:
		return "", errors.New("must be a name, not an address")
	case !isHostName(text) || strings.Contains(labels, ".-") || strings.Contains(labels, "-.") || strings.Contains(labels, "_"):
		return "", errors.New("must be a domain such as push.example.com, of at most 253 characters, without scheme and port, in ASCII (xn--…)")
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
