package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// Headers that carry an API token. Clients of Password Pusher's first API send the second, with an
// e-mail address in X-User-Email, which pushbox ignores.
const (
	headerAuthorization = "Authorization"
	headerToken         = "X-User-Token"
)

// readToken returns the API token of a request, and whether the request has one. It
// returns record.ErrToken for a malformed header.
func readToken(h http.Header) (token secret.Text, given bool, err error) {
	values, has := h[headerAuthorization]
	if has {
		token = bearer(values)
	} else if values, has = h[headerToken]; has && len(values) == 1 {
		token = secret.New(values[0])
	}
	if has && token.IsZero() {
		err = record.ErrToken
	}
	return token, has, err
}

// bearer reads the token from an Authorization header (RFC 6750 section 2.1); zero if
// there is none. The scheme may be in upper or lower case (RFC 9110 section 11.1). It
// may also be Token, or be missing: Password Pusher reads only the last word.
func bearer(values []string) secret.Text {
	if len(values) != 1 {
		return secret.Text{}
	}
	words := strings.FieldsFunc(values[0], func(r rune) bool { return r == ' ' })
	switch {
	case len(words) == 1:
		return secret.New(words[0])
	case len(words) == 2 && (strings.EqualFold(words[0], "Bearer") || strings.EqualFold(words[0], "Token")):
		return secret.New(words[1])
	default:
		return secret.Text{}
	}
}

// authenticate identifies the caller and checks that the route is open to it. Wrong
// credentials are refused even if the route is open to anonymous clients.
func (s *Server) authenticate(r *action.Request) error {
	if r.Route.Access == action.Public {
		return nil
	}
	if r.Route.Has(action.IsPage) {
		return s.resume(r)
	}
	token, given, err := readToken(r.Header)
	if err != nil {
		return err
	}
	if given {
		a, t, err := s.store.Authenticate(r.Context(), r.Actor, token)
		if err != nil {
			return err
		}
		r.Actor.Account, r.Token, r.Unconfirmed = a.ID, &t, a.Unconfirmed
		if r.Route.Access == action.Administrating && !a.Administers() {
			return record.ErrNotFound
		}
		if s.cfg.RequireMFA && !a.MFA() && !s.clock.Now().Before(s.tokensFrom) {
			return action.ErrTokenMFA
		}
		if !t.Scopes.Has(r.Route.Scope) {
			return &action.ScopeError{Needs: r.Route.Scope}
		}
		if r.Route.Access == action.Administrating {
			r.Actor.Role = store.Admin
		}
		return nil
	}
	if r.Route.Access.NeedsToken(&s.cfg) || r.Route.Access == action.Creating && !s.mayCreate(r) {
		return action.ErrUnauthorized
	}
	return nil
}

// mayCreate reports whether the client may create pushes anonymously.
func (s *Server) mayCreate(r *action.Request) bool {
	if len(s.cfg.CreateNetworks) == 0 {
		return s.cfg.AllowAnonymous
	}
	return slices.ContainsFunc(s.cfg.CreateNetworks, func(n netip.Prefix) bool { return n.Contains(r.Client.Addr) })
}

// checkIntent refuses a request that the user did not intend: a form that a page of another site
// sent, and a retrieval that a browser makes ahead of time or for a page's image. Browsers send
// headers about this (Fetch Metadata Request Headers); programs do not.
func (s *Server) checkIntent(r *action.Request) error {
	mode := r.Header.Get("Sec-Fetch-Mode")
	switch {
	case r.Route.Has(action.IsPage):
		return s.checkOrigin(r)
	case r.Route.Has(action.CountsViews) && (mode == "no-cors" || action.IsAhead(r.Header)):
		return action.ErrUnmeant
	case action.Changes(r.Method) && r.Header.Get("Sec-Fetch-Site") == "cross-site" && (mode == "navigate" || mode == "no-cors"):
		return action.ErrCrossOrigin
	default:
		return nil
	}
}

// isForeignPart reports whether a browser requests a part of another site's page, such as an image,
// and not a page that the user opens.
func isForeignPart(h http.Header) bool {
	return h.Get("Sec-Fetch-Site") == "cross-site" && h.Get("Sec-Fetch-Dest") != "document"
}
