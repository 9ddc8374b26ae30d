package server

import (
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// Names of the cookie with the marks of accounts that the browser was signed in to. Their
// prefixes mean what those of the session's cookie mean.
const (
	knownCookie            = "pushbox_known"
	secureKnownCookie      = "__Host-pushbox-known"
	secureKnownCookieBelow = "__Secure-pushbox-known"
)

// knownPushCookie is the name of a cookie for one push, with the mark that the browser
// got for its passphrase. The browser forgets it when it is closed.
const knownPushCookie = "known"

// knownFor is how long a browser keeps the marks of accounts, in seconds: a year.
const knownFor = 365 * 24 * 60 * 60

// markSeparator separates the marks of a cookie.
const markSeparator = "."

func (s *Server) knownCookieName(r *request) string {
	switch {
	case !s.isSecure(r):
		return knownCookie
	case s.cfg.BasePath != "":
		return secureKnownCookieBelow
	default:
		return secureKnownCookie
	}
}

// marks returns the marks that a browser sent: of pushes, and at the full entry point of
// accounts.
func (s *Server) marks(r *request) (all []secret.Text) {
	if r.route == nil || !r.route.has(isPage) {
		return nil
	}
	if c, err := r.Cookie(knownPushCookie); err == nil {
		all = append(all, secret.New(c.Value))
	}
	return append(all, s.accountMarks(r)...)
}

func (s *Server) accountMarks(r *request) (all []secret.Text) {
	c, err := r.Cookie(s.knownCookieName(r))
	if err != nil || r.entry.recipients {
		return nil
	}
	for _, m := range strings.SplitN(c.Value, markSeparator, store.MaxMarks) {
		all = append(all, secret.New(m))
	}
	return all
}

// newKnownCookie returns the cookie by which a browser is known to accounts from now on,
// that of the session among them.
func (s *Server) newKnownCookie(r *request, n store.NewSession) *http.Cookie {
	if n.Mark.IsZero() {
		return nil
	}
	var texts []string
	for _, m := range store.AddMark(s.accountMarks(r), n.Mark) {
		texts = append(texts, m.Reveal())
	}
	c := s.cookie(r, s.knownCookieName(r), strings.Join(texts, markSeparator))
	c.MaxAge = knownFor
	return c
}

// newKnownPushCookie returns the cookie by which a browser is known to a push whose
// passphrase it gave; nil if the push has none.
func (s *Server) newKnownPushCookie(r *request, p store.PushInfo) *http.Cookie {
	if p.Mark.IsZero() {
		return nil
	}
	c := s.cookie(r, knownPushCookie, p.Mark.Reveal())
	c.Path = r.URL.EscapedPath() // as the browser has it
	return c
}
