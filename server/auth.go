package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// Headers that carry credentials. The older pair is what clients of Password
// Pusher's first API send.
const (
	headerAuthorization = "Authorization"
	headerEmail         = "X-User-Email"
	headerToken         = "X-User-Token"
)

// credentials are what a request shows to say whose it is.
type credentials struct {
	token secret.Text
	email string // only with the older pair
}

// readCredentials returns the credentials of a request and whether it has any.
// store.ErrToken if it has some that cannot be valid.
func readCredentials(h http.Header) (c credentials, given bool, err error) {
	if values, has := h[headerAuthorization]; has {
		token, ok := bearer(values)
		if !ok {
			return c, true, store.ErrToken
		}
		return credentials{token: token}, true, nil
	}
	emails, tokens := h[headerEmail], h[headerToken]
	if len(emails) == 0 && len(tokens) == 0 {
		return c, false, nil
	}
	if len(emails) != 1 || len(tokens) != 1 || emails[0] == "" || tokens[0] == "" {
		return c, true, store.ErrToken
	}
	return credentials{token: secret.New(tokens[0]), email: emails[0]}, true, nil
}

// bearer reads an Authorization header: RFC 6750 section 2.1, with the scheme in
// any case as RFC 9110 section 11.1 has it.
func bearer(values []string) (secret.Text, bool) {
	if len(values) != 1 {
		return secret.Text{}, false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || strings.Contains(token, " ") {
		return secret.Text{}, false
	}
	return secret.New(token), true
}

// authenticate finds out whose request it is and whether the route is for it,
// in the order that the contract sets.
func (s *Server) authenticate(r *request) error {
	if r.route.access == open {
		return nil
	}
	if r.route.page {
		return s.resume(r)
	}
	c, given, err := readCredentials(r.Header)
	if err != nil {
		return err
	}
	if given {
		a, t, err := s.store.Authenticate(r.Context(), c.token, c.email)
		if err != nil {
			return err
		}
		r.actor.Account, r.token = a.ID, &t
		return nil
	}
	if s.needsToken(r.route.access) || r.route.access == creator && !s.mayCreate(r) {
		return errUnauthorized
	}
	return nil
}

// mayCreate reports whether the client may create without saying who it is.
func (s *Server) mayCreate(r *request) bool {
	if len(s.cfg.CreateNetworks) == 0 {
		return s.cfg.AllowAnonymous
	}
	return slices.ContainsFunc(s.cfg.CreateNetworks, func(n netip.Prefix) bool { return n.Contains(r.client.Addr) })
}

// needsToken reports whether a route of the API is for nobody without a valid token,
// wherever they are.
func (s *Server) needsToken(a access) bool {
	switch a {
	case account:
		return true
	case anyone:
		return !s.cfg.AllowAnonymous
	case creator:
		return !s.cfg.AllowAnonymous && !s.dependsOnAddress(a)
	default:
		return false
	}
}

// dependsOnAddress reports whether a route of the API needs a token of some clients,
// and of others not.
func (s *Server) dependsOnAddress(a access) bool {
	return a == creator && len(s.cfg.CreateNetworks) > 0
}
