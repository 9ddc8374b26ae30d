package action

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

func (r *Request) knownCookieName() string {
	switch {
	case !r.IsSecure():
		return knownCookie
	case r.Entry.BasePath != "":
		return secureKnownCookieBelow
	default:
		return secureKnownCookie
	}
}

// Marks returns the marks that a browser sent: of pushes, and at the full entry point of
// accounts.
func (r *Request) Marks() (all []secret.Text) {
	if r.Route == nil || !r.Route.Has(IsPage) {
		return nil
	}
	if c, err := r.Cookie(knownPushCookie); err == nil {
		all = append(all, secret.New(c.Value))
	}
	return append(all, r.accountMarks()...)
}

func (r *Request) accountMarks() (all []secret.Text) {
	c, err := r.Cookie(r.knownCookieName())
	if err != nil || r.Entry.Recipients {
		return nil
	}
	for _, m := range strings.SplitN(c.Value, markSeparator, store.MaxMarks) {
		all = append(all, secret.New(m))
	}
	return all
}

// NewKnownCookie returns the cookie by which a browser is known to accounts from now on,
// that of the session among them.
func (r *Request) NewKnownCookie(n store.NewSession) *http.Cookie {
	if n.Mark.IsZero() {
		return nil
	}
	var texts []string
	for _, m := range store.AddMark(r.accountMarks(), n.Mark) {
		texts = append(texts, m.Reveal())
	}
	c := r.NewCookie(r.knownCookieName(), strings.Join(texts, markSeparator))
	c.MaxAge = knownFor
	return c
}

// NewKnownPushCookie returns the cookie by which a browser is known to a push whose
// passphrase it gave; nil if the push has none.
func (r *Request) NewKnownPushCookie(p store.PushInfo) *http.Cookie {
	if p.Mark.IsZero() {
		return nil
	}
	c := r.NewCookie(knownPushCookie, p.Mark.Reveal())
	c.Path = r.URL.EscapedPath() // as the browser has it
	return c
}
