package action

import (
	"cmp"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
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

// GuardedName is the name of a cookie that over TLS only this host can set.
func (r *Request) GuardedName(name string) string {
	switch {
	case !r.IsSecure():
		return name
	case r.Entry.BasePath != "":
		return "__Secure-" + name
	default:
		return "__Host-" + name
	}
}

// NewSessionCookie returns the cookie of a session. It lasts as long as the session
// can; the store may end the session sooner.
func (r *Request) NewSessionCookie(n store.NewSession) *http.Cookie {
	c := r.NewCookie(r.sessionCookieName(), n.Secret.Reveal())
	c.Expires = n.ExpiresAt
	return c
}

// NoSessionCookie removes the session's cookie from the browser.
func (r *Request) NoSessionCookie() *http.Cookie {
	c := r.NewCookie(r.sessionCookieName(), "")
	c.MaxAge = -1
	return c
}

// NewCookie returns a cookie for all paths of the server.
func (r *Request) NewCookie(name, value string) *http.Cookie {
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
