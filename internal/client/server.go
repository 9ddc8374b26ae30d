package client

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// A Server is where an API is: a scheme, a host, a port, and perhaps a path in
// front of that of the API. The zero value is none. Servers can be compared.
type Server struct{ scheme, host, path string }

// The errors of ParseServer and ParseLink. They hold nothing of the text.
var (
	errServer = errors.New("must be a URL such as https://push.example.com")
	errUser   = errors.New("must not have a user name or a password")
)

// ParseServer reads the URL of a server. The error does not hold the text.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Server{}, errServer
	}
	return serverOf(u, u.Path)
}

// serverOf is the server of a URL, with a path in front of that of its API.
func serverOf(u *url.URL, path string) (Server, error) {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	usual := map[string]string{"http": "80", "https": "443"}[scheme]
	switch {
	case usual == "" || host == "":
		return Server{}, errServer
	case u.User != nil:
		return Server{}, errUser
	case port != "" && port != usual: // the usual one is left out: servers make links of the header Host
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return Server{scheme, host, strings.Trim(path, "/")}, nil
}

// IsZero reports whether s is no server.
func (s Server) IsZero() bool { return s == Server{} }

// SameOrigin reports whether two servers have scheme, host and port in common:
// whether they are one place as far as secrets are concerned.
func (s Server) SameOrigin(other Server) bool {
	return s.scheme == other.scheme && s.host == other.host
}

// String is scheme, host and an unusual port, without the path.
func (s Server) String() string { return s.scheme + "://" + s.host }

// InClear reports whether everybody on the way to the server can read what it
// is sent: it has no TLS, and is not this machine.
func (s Server) InClear() bool {
	host := s.url().Hostname()
	addr, err := netip.ParseAddr(host)
	return s.scheme == "http" && host != "localhost" && (err != nil || !addr.Unmap().IsLoopback())
}

// url is the URL of something on the server.
func (s Server) url(parts ...string) *url.URL {
	u := &url.URL{Scheme: s.scheme, Host: s.host, Path: "/" + s.path}
	return u.JoinPath(parts...)
}
