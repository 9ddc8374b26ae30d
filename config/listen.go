package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// What addresses to listen on begin with that are no host and port.
const (
	UnixPrefix    = "unix:"    // the path of a Unix socket follows
	SystemdPrefix = "systemd:" // the name of a socket that systemd has opened follows
)

// whatDoor is what an address to listen on may be.
const whatDoor = "an address and a port, such as 127.0.0.1:5100, or unix:/PATH, or systemd:NAME"

// parseDoor reads what to listen on: an address and a port, the path of a
// Unix socket, or the name of a socket of systemd.
func parseDoor(text string) (string, error) {
	if path, ok := strings.CutPrefix(text, UnixPrefix); ok {
		if path == "" || path[0] == '@' { // which stands for a name in no directory, that everybody reaches
			return "", errors.New("must have the path of a socket behind unix:, such as unix:/run/pushbox/pushbox.sock")
		}
		return parseText(text)
	}
	if name, ok := strings.CutPrefix(text, SystemdPrefix); ok {
		if !isSocketName(name) {
			return "", errors.New("must have the FileDescriptorName of a socket behind systemd:, such as systemd:pushbox.socket")
		}
		return text, nil
	}
	if _, err := parseAddress(text); err != nil {
		return "", errors.New("must be " + whatDoor)
	}
	return parseText(text)
}

// isSocketName reports whether systemd takes the name for a file descriptor
// (systemd.socket(5), FileDescriptorName=).
func isSocketName(name string) bool {
	odd := func(c rune) bool { return c <= ' ' || c > '~' || c == ':' }
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, odd)
}

// parseSecondDoor reads what else to listen on, if anything.
func parseSecondDoor(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return parseDoor(text)
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

// maxBasePath is how long a base path may be, in bytes: it is in each link.
const maxBasePath = 128

// parseBasePath reads a path that others are below, and drops slashes at its end.
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

// parseHosts reads names of hosts, separated by commas, in the form in which they
// are compared: lower case, no dot at the end, addresses without brackets.
func parseHosts(text string) ([]string, error) {
	hosts := []string{}
	if text == "" {
		return hosts, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		host, ok := parseHost(strings.TrimSpace(item))
		if !ok {
			return nil, errors.New("entry " + strconv.Itoa(len(hosts)+1) +
				" must be a host without a port, such as push.example.com, *.example.com or 192.0.2.7; other letters than a to z in the form xn--…")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

func parseHost(text string) (string, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return addr.String(), addr.Zone() == ""
	}
	host := strings.TrimSuffix(strings.ToLower(text), ".")
	for part := range strings.SplitSeq(strings.TrimPrefix(host, "*."), ".") {
		odd := func(c rune) bool { return !isLetterOrDigit(c) && c != '-' && c != '_' }
		if part == "" || len(part) > 63 || strings.ContainsFunc(part, odd) {
			return "", false
		}
	}
	return host, len(host) <= 253
}

func printHosts(hosts []string) string {
	items := make([]string, len(hosts))
	for i, h := range hosts {
		items[i] = strconv.Quote(h)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// checkDoors notes what is wrong between settings of where the server is.
func (l *loader) checkDoors(cfg Config) {
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
