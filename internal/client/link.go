package client

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
)

// A Link is the address of a push.
type Link struct {
	Server Server
	token  secret.Text
}

// StepPath returns the path of the page with the button, below the server's. To request it uses no view.
func (l Link) StepPath() secret.Text { return secret.New("/p/" + l.token.Reveal() + "/r") }

var (
	errLink   = errors.New("must be a link such as https://push.example.com/p/…, as `pushbox push` prints it")
	errCut    = errors.New("must be a whole link: it is incomplete, or contains characters that a link cannot have")
	urlTokens = regexp.MustCompile(`^[A-Za-z0-9_-]{4,128}$`)
)

// pages are the path segments in front of a url_token: in links of pushbox p, in those of Password
// Pusher also that of a file push and that of a URL.
var pages = []string{"p", "f", "r"}

// languages are the path segments by which Password Pusher's links name the language of
// the page: /en/p/TOKEN.
var languages = []string{
	"ca", "cs", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "hi", "hu", "id", "is", "it", "ja", "ko", "lv", "nl", "no",
	"pl", "pt-br", "pt-pt", "ro", "ru", "sk", "sr", "sv", "th", "uk", "ur", "zh-cn",
}

// ParseLink reads a link in any form of pushbox or Password Pusher: that of a page, /p/TOKEN, and
// that of the API, /api/v2/pushes/TOKEN, each with or without a suffix. The error does not contain
// the text.
func ParseLink(text string) (Link, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Link{}, errLink
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(u.Path, ".json"), "/"), "/")
	base, token, ok := cutToken(parts)
	if last := len(parts) - 1; !ok && slices.Contains([]string{"r", "preview", "passphrase"}, parts[last]) {
		base, token, ok = cutToken(parts[:last])
	}
	switch last := len(parts) - 1; {
	case !ok && last > 0 && slices.Contains(pages, parts[last-1]):
		return Link{}, errCut
	case !ok:
		return Link{}, errLink
	}
	server, err := serverOf(u, strings.Join(base, "/"))
	if errors.Is(err, errServer) {
		err = errLink
	}
	return Link{server, secret.New(token)}, err
}

func cutToken(parts []string) (base []string, token string, ok bool) {
	last := len(parts) - 1
	if last < 1 || !urlTokens.MatchString(parts[last]) {
		return nil, "", false
	}
	front, token := parts[:last], parts[last]
	switch {
	case last >= 3 && slices.Equal(front[last-3:], []string{"api", "v2", pushes}):
		return front[:last-3], token, true
	case !slices.Contains(pages, front[last-1]):
		return nil, "", false
	}
	front = front[:last-1]
	if n := len(front); n > 0 && slices.Contains(languages, strings.ToLower(front[n-1])) {
		front = front[:n-1]
	}
	return front, token, true
}

// A Server is the address of an API: a scheme, a host, a port, and perhaps a path before
// that of the API. The zero value is no server. Servers can be compared.
type Server struct{ scheme, host, path string }

// Errors of ParseServer and ParseLink. They contain nothing of the text.
var (
	errServer = errors.New("must be a URL such as https://push.example.com")
	errUser   = errors.New("must not have a user name or a password")
)

// ParseServer reads the URL of a server. The error does not contain the text.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Server{}, errServer
	}
	return serverOf(u, u.Path)
}

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

// SameOrigin reports whether two servers have the same scheme, host and port. A secret
// for one of them may then be sent to the other.
func (s Server) SameOrigin(other Server) bool {
	return s.scheme == other.scheme && s.host == other.host
}

// String returns scheme, host and a port other than the default, without the path.
func (s Server) String() string { return s.scheme + "://" + s.host }

// InClear reports whether others can read requests on their way: the server has no TLS
// and is not this machine.
func (s Server) InClear() bool {
	return s.scheme == "http" && !clientip.IsLoopback(s.url().Hostname())
}

// Path returns the path in front of all paths of the server, without a slash at the end; empty: none.
func (s Server) Path() string {
	if s.path == "" {
		return ""
	}
	return "/" + s.path
}

func (s Server) url(parts ...string) *url.URL {
	u := &url.URL{Scheme: s.scheme, Host: s.host, Path: "/" + s.path}
	return u.JoinPath(parts...)
}
