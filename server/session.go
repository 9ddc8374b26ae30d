package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// Names of the session cookie. A browser accepts the second and the third only over
// TLS, and the second only from the host itself and for all of its paths (RFC 6265bis
// section 4.1.3).
const (
	sessionCookie            = "pushbox_session"
	secureSessionCookie      = "__Host-pushbox"
	secureSessionCookieBelow = "__Secure-pushbox"
)

// undoTime is for ending a session that no browser gets.
const undoTime = 10 * time.Second

// Errors of a page that is not open to the user.
var (
	errSignIn = errors.New("this page needs a sign-in")
	errMFA    = errors.New("this account needs a second factor first")
)

// isSecure reports whether the browser uses TLS, according to the connection, a
// trusted proxy or base_url.
func (s *Server) isSecure(r *request) bool {
	return s.proxies.Scheme(r.Request) == "https" || r.entry.named && strings.HasPrefix(s.cfg.BaseURL, "https://")
}

// checkOrigin refuses a request that a page of another site sent. Only the proxy may
// know the host that the browser asked for.
func (s *Server) checkOrigin(r *request) error {
	asked := *r.Request
	if host, ok := s.proxies.Host(r.Request); ok {
		asked.Host = host
	}
	if r.entry.cross.Check(&asked) != nil {
		return errCrossOrigin
	}
	return nil
}

func (s *Server) sessionCookieName(r *request) string {
	switch {
	case !s.isSecure(r):
		return sessionCookie
	case s.cfg.BasePath != "":
		return secureSessionCookieBelow
	default:
		return secureSessionCookie
	}
}

// guardedName is the name of a cookie that over TLS only this host can set.
func (s *Server) guardedName(r *request, name string) string {
	switch {
	case !s.isSecure(r):
		return name
	case s.cfg.BasePath != "":
		return "__Secure-" + name
	default:
		return "__Host-" + name
	}
}

// newSessionCookie returns the cookie of a session. It lasts as long as the session
// can; the store may end the session sooner.
func (s *Server) newSessionCookie(r *request, n store.NewSession) *http.Cookie {
	c := s.cookie(r, s.sessionCookieName(r), n.Secret.Reveal())
	c.Expires = n.ExpiresAt
	return c
}

// begin gives the browser a new session, and ends its old one: a client that knew the
// old secret can no longer use it. If the old one cannot be ended, the browser keeps that,
// and the new one ends. It leads to the page that the user wanted to see.
func (s *Server) begin(r *request, n store.NewSession) (reply, error) {
	if old := s.sessionSecret(r); !old.IsZero() {
		if err := s.store.SignOut(r.Context(), r.actor, old); err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), undoTime)
			defer cancel()
			return reply{}, errors.Join(err, s.store.SignOut(ctx, r.actor, n.Secret))
		}
	}
	rep := goTo(signInPath)
	if !n.Pending {
		rep = goTo(cmp.Or(s.wanted(r), "/")).with(s.noWantedCookie(r))
	}
	return rep.with(s.newSessionCookie(r, n), s.newKnownCookie(r, n)), nil
}

// noSessionCookie removes the session's cookie from the browser.
func (s *Server) noSessionCookie(r *request) *http.Cookie {
	c := s.cookie(r, s.sessionCookieName(r), "")
	c.MaxAge = -1
	return c
}

func (s *Server) cookie(r *request, name, value string) *http.Cookie {
	path := cmp.Or(s.cfg.BasePath, "/")
	return &http.Cookie{Name: name, Value: value, Path: path, Secure: s.isSecure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// sessionSecret returns the secret of the session that the browser sent; zero if none.
func (s *Server) sessionSecret(r *request) secret.Text {
	c, err := r.Cookie(s.sessionCookieName(r))
	if err != nil {
		return secret.Text{}
	}
	return secret.New(c.Value)
}

// resume identifies the user of the browser, and checks that the page is open to the
// user.
func (s *Server) resume(r *request) error {
	if err := s.identify(r); err != nil {
		return err
	}
	return s.mayEnter(r)
}

// identify identifies the user of the browser. The entry point for recipients ignores
// sessions.
func (s *Server) identify(r *request) error {
	if sent := s.sessionSecret(r); !sent.IsZero() && !r.entry.recipients {
		i, err := s.store.Resume(r.Context(), sent)
		switch {
		case errors.Is(err, record.ErrSession):
		case err != nil:
			return err
		case r.proxied.isOther(i):
		case i.Pending:
			r.pending, r.pendingTOTP = true, i.TOTP
		default:
			r.session, r.actor.Account = i, i.Owner
			s.speakTo(r, i.Language)
		}
	}
	return nil
}

// mayEnter refuses a page that needs a sign-in, or a second factor, first.
func (s *Server) mayEnter(r *request) error {
	signedIn := r.actor.Account != 0
	administers := r.route.access == administrating
	members := r.route.access == required || administers || r.route.access == creating && !s.mayCreate(r)
	switch {
	case members && !signedIn:
		return errSignIn
	case administers && !r.session.Admin:
		return record.ErrNotFound
	case signedIn && s.cfg.RequireMFA && !r.session.MFA && !r.session.Strong && (members || r.route.access == creating) && !r.route.has(beforeMFA):
		return errMFA
	}
	if administers {
		r.actor.Role = store.Admin
	}
	return nil
}
