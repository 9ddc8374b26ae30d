package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"pushbox/internal/secret"
)

// Prefixes of the forms of a listener other than a host and a port.
const (
	UnixPrefix    = "unix:"    // the path of a Unix socket follows
	SystemdPrefix = "systemd:" // the name of a socket that systemd has opened follows
)

// listenForms describes the forms of a listener.
const listenForms = "an address and a port, such as 127.0.0.1:5100, or unix:/PATH, or systemd:NAME"

// parseListen reads where to listen: an address and a port, the path of a Unix
// socket, or the name of a socket of systemd.
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
	if _, err := parseAddress(text); err != nil {
		return "", errors.New("must be " + listenForms)
	}
	return parseText(text)
}

// isSocketName reports whether systemd accepts the name for a file descriptor
// (systemd.socket(5), FileDescriptorName=).
func isSocketName(name string) bool {
	odd := func(c rune) bool { return c <= ' ' || c > '~' || c == ':' }
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, odd)
}

// parseMode reads the permissions of a file, in octal.
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

// maxBasePath is the longest base path, in bytes: every link contains it.
const maxBasePath = 128

// parseBasePath reads a base path, and drops slashes at its end.
func parseBasePath(text string) (string, error) {
	path := strings.TrimRight(text, "/")
	if path == "" {
		return "", nil
	}
	parts := strings.Split(path, "/")
	if parts[0] != "" || len(path) > maxBasePath {
		return "", errBasePath
	}
	for _, part := range parts[1:] {
		odd := func(c rune) bool { return !isLetterOrDigit(c) && !strings.ContainsRune("-._~", c) }
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, odd) {
			return "", errBasePath
		}
	}
	return path, nil
}

var errBasePath = errors.New("must be a path such as /push, of at most 128 letters, digits, dots, dashes and underscores")

func isLetterOrDigit(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

var errHost = errors.New("must be a host without a port, such as push.example.com, *.example.com or 192.0.2.7; letters other than a to z in the form xn--…")

// parseHost reads the name of a host, and returns it as it is compared: in lower case,
// without a dot at the end, an address without brackets.
func parseHost(text string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		if addr.Zone() != "" {
			return "", errHost
		}
		return addr.String(), nil
	}
	host := strings.TrimSuffix(strings.ToLower(text), ".")
	for part := range strings.SplitSeq(strings.TrimPrefix(host, "*."), ".") {
		odd := func(c rune) bool { return !isLetterOrDigit(c) && c != '-' && c != '_' }
		if part == "" || len(part) > 63 || strings.ContainsFunc(part, odd) {
			return "", errHost
		}
	}
	if len(host) > 253 {
		return "", errHost
	}
	return host, nil
}

// checkListeners notes problems between the settings of listeners and addresses.
func (l *loader) checkListeners(cfg Config) {
	if cfg.PublicListen == cfg.Listen && !strings.HasSuffix(cfg.Listen, ":0") {
		l.relation("public_listen", "must not be the same as", "listen")
	}
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case cfg.BaseURL == "" || err != nil || u.Path == cfg.BasePath:
	case cfg.BasePath == "":
		l.relation("base_url", "has a path; set the same one as", "base_path")
	default:
		l.relation("base_url", "must end with "+cfg.BasePath+" as said by", "base_path")
	}
}

// Metrics says where Prometheus can read metrics.
type Metrics struct {
	// Address and port of a listener for /metrics alone, such as 127.0.0.1:5102.
	// Empty: none.
	Listen string `mapstructure:"listen" form:"optional address"`

	// File with a token of 16 bytes or more, which callers must send as Authorization:
	// Bearer. It also turns on /metrics at the address of the setting listen. Empty:
	// /metrics is off there, and metrics.listen requires no token.
	TokenFile string `mapstructure:"token_file"`

	// The token itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with metrics.token_file.
	Token secret.Text `mapstructure:"token"`
}

// HasToken reports whether readers of metrics must send a token.
func (m Metrics) HasToken() bool { return m.TokenFile != "" || !m.Token.IsZero() }
