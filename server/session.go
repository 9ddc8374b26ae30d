package server

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// Names of the cookie that has a session. A browser takes the second and the third
// over TLS only, and the second from no other host and for all of its paths (RFC
// 6265bis section 4.1.3).
const (
	sessionCookie            = "pushbox_session"
	secureSessionCookie      = "__Host-pushbox"
	secureSessionCookieBelow = "__Secure-pushbox"
)

// Where a page is for somebody else.
var (
	errSignIn = errors.New("this page is for those who are signed in")
	errMFA    = errors.New("this account needs a second factor first")
)

// isSecure reports whether the browser came over TLS, as far as a proxy or the
// configuration tells.
func (s *Server) isSecure(r *request) bool {
	return s.proxies.Scheme(r.Request) == "https" || r.door.named && strings.HasPrefix(s.cfg.BaseURL, "https://")
}

// checkOrigin refuses what a page of another site sent. The host that the browser
// asked for may be known to the proxy alone.
func (s *Server) checkOrigin(r *request) error {
	asked := *r.Request
	if host, ok := s.proxies.Host(r.Request); ok {
		asked.Host = host
	}
	if r.door.cross.Check(&asked) != nil {
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

// newSessionCookie hands a session to the browser, for as long as the session can
// last; the store ends it sooner.
func (s *Server) newSessionCookie(r *request, n store.NewSession) *http.Cookie {
	c := s.cookie(r, s.sessionCookieName(r), n.Secret.Reveal())
	c.Expires = n.ExpiresAt
	return c
}

// begin hands a session that was just begun to the browser, and ends the one that
// it had: nobody goes on with what they knew before.
func (s *Server) begin(r *request, n store.NewSession) (reply, error) {
	if old := s.sessionSecret(r); !old.IsZero() {
		if err := s.store.SignOut(r.Context(), old); err != nil {
			return reply{}, err
		}
	}
	next := "/"
	if n.Pending {
		next = signInPath
	}
	return goTo(next).with(s.newSessionCookie(r, n)), nil
}

// noSessionCookie takes the session away from the browser.
func (s *Server) noSessionCookie(r *request) *http.Cookie {
	c := s.cookie(r, s.sessionCookieName(r), "")
	c.MaxAge = -1
	return c
}

func (s *Server) cookie(r *request, name, value string) *http.Cookie {
	path := cmp.Or(s.cfg.BasePath, "/")
	return &http.Cookie{Name: name, Value: value, Path: path, Secure: s.isSecure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// sessionSecret is the secret of the session that the browser sent; zero if none.
func (s *Server) sessionSecret(r *request) secret.Text {
	c, err := r.Cookie(s.sessionCookieName(r))
	if err != nil {
		return secret.Text{}
	}
	return secret.New(c.Value)
}

// resume finds out who is at the browser, and whether the page is for them. Behind
// the public door everybody is a visitor.
func (s *Server) resume(r *request) error {
	if sent := s.sessionSecret(r); !sent.IsZero() && !r.door.public {
		i, err := s.store.Resume(r.Context(), sent)
		switch {
		case errors.Is(err, store.ErrSession):
		case err != nil:
			return err
		case i.Pending:
			r.pending = true
		default:
			r.session, r.actor.Account = i, i.Owner
		}
	}
	return s.mayEnter(r)
}

// mayEnter refuses a page that is for others.
func (s *Server) mayEnter(r *request) error {
	signedIn := r.actor.Account != 0
	members := r.route.access == member || r.route.access == sender && !s.mayCreate(r)
	switch {
	case members && !signedIn:
		return errSignIn
	case signedIn && s.cfg.RequireMFA && !r.session.MFA && (members || r.route.access == sender) && !r.route.firstSteps:
		return errMFA
	default:
		return nil
	}
}
