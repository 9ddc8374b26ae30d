package action

import (
	"cmp"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// LanguageName is the name of the field of the query that switches the language, and
// of the cookie that keeps the choice.
const LanguageName = "lang"

// LocaleName is the name of the field of the query in which links of Password Pusher
// have a language.
const LocaleName = "locale"

// Names of the session cookie. A browser accepts the second and the third only over
// TLS, and the second only from the host itself and for all of its paths (RFC 6265bis
// section 4.1.3).
const (
	sessionCookie            = "pushbox_session"
	secureSessionCookie      = "__Host-pushbox"
	secureSessionCookieBelow = "__Secure-pushbox"
)

// IsSecure reports whether the browser uses TLS, according to the connection, a
// trusted proxy or base_url.
func (r *Request) IsSecure() bool {
	return r.Entry.Proxies.Scheme(r.Request) == "https" || r.Entry.Named && strings.HasPrefix(r.Entry.BaseURL, "https://")
}

func (r *Request) sessionCookieName() string {
	switch {
	case !r.IsSecure():
		return sessionCookie
	case r.Entry.BasePath != "":
		return secureSessionCookieBelow
	default:
		return secureSessionCookie
	}
}

// guarded is the name of a cookie that over TLS only this host can set, if the cookie is for all of
// its paths, and otherwise only a host that uses TLS.
func (r *Request) guarded(name string, everywhere bool) string {
	switch {
	case !r.IsSecure():
		return name
	case r.Entry.BasePath != "" || !everywhere:
		return "__Secure-" + name
	default:
		return "__Host-" + name
	}
}

// NewSessionCookie returns the cookie of a session. It lasts as long as the session
// can; the store may end the session sooner.
func (r *Request) NewSessionCookie(n store.NewSession) *http.Cookie {
	c := r.newCookie(r.sessionCookieName(), n.Secret.Reveal())
	c.Expires = n.ExpiresAt
	return c
}

// NoSessionCookie removes the session's cookie from the browser.
func (r *Request) NoSessionCookie() *http.Cookie {
	c := r.newCookie(r.sessionCookieName(), "")
	c.MaxAge = -1
	return c
}

// NewCookie returns a cookie for all paths of the server. Over TLS its name has a prefix that browsers
// guard; OwnCookie finds it.
func (r *Request) NewCookie(name, value string) *http.Cookie {
	return r.newCookie(r.guarded(name, true), value)
}

// OwnCookie returns a cookie that NewCookie made; http.ErrNoCookie if the browser sent none.
func (r *Request) OwnCookie(name string) (*http.Cookie, error) {
	return r.Cookie(r.guarded(name, true))
}

// NewPathCookie returns a cookie for the path of the request as the browser sent it, since upper and
// lower case may differ from ours. PathCookie finds it.
func (r *Request) NewPathCookie(name, value string) *http.Cookie {
	c := r.newCookie(r.guarded(name, false), value)
	c.Path = r.URL.EscapedPath()
	return c
}

// PathCookie returns a cookie that NewPathCookie made; http.ErrNoCookie if the browser sent none.
func (r *Request) PathCookie(name string) (*http.Cookie, error) {
	return r.Cookie(r.guarded(name, false))
}

func (r *Request) newCookie(name, value string) *http.Cookie {
	path := cmp.Or(r.Entry.BasePath, "/")
	return &http.Cookie{Name: name, Value: value, Path: path, Secure: r.IsSecure(), HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// SessionSecret returns the secret of the session that the browser sent; zero if none.
func (r *Request) SessionSecret() secret.Text {
	c, err := r.Cookie(r.sessionCookieName())
	if err != nil {
		return secret.Text{}
	}
	return secret.New(c.Value)
}

// Names of the cookie with the marks of accounts that the browser was signed in to. They have the
// prefixes of the session's cookie.
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

// Marks returns the marks that a browser sent: of pushes, and at the full entry point also of
// accounts.
func (r *Request) Marks() (all []secret.Text) {
	if r.Route == nil || !r.Route.Has(IsPage) {
		return nil
	}
	if c, err := r.PathCookie(knownPushCookie); err == nil {
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

// NewKnownCookie returns the cookie with the marks of accounts, including that of the new session.
func (r *Request) NewKnownCookie(n store.NewSession) *http.Cookie {
	if n.Mark.IsZero() {
		return nil
	}
	var texts []string
	for _, m := range store.AddMark(r.accountMarks(), n.Mark) {
		texts = append(texts, m.Reveal())
	}
	c := r.newCookie(r.knownCookieName(), strings.Join(texts, markSeparator))
	c.MaxAge = knownFor
	return c
}

// NewKnownPushCookie returns the cookie with the mark of a push whose passphrase the browser gave;
// nil if the push has none.
func (r *Request) NewKnownPushCookie(p store.PushInfo) *http.Cookie {
	if p.Mark.IsZero() {
		return nil
	}
	return r.NewPathCookie(knownPushCookie, p.Mark.Reveal())
}

// A Proxied is a person that a header of a proxy names. The zero value is none.
type Proxied struct {
	Email  string
	Groups []string
}

// Identity returns the identity of the person.
func (p Proxied) Identity() record.Identity {
	return record.Identity{Issuer: store.ByProxy, Subject: p.Email}
}

// IsOther reports whether a session belongs to a person that the proxy no longer names.
func (p Proxied) IsOther(i store.SessionInfo) bool {
	return i.Via.Issuer == store.ByProxy && i.Via != p.Identity()
}
