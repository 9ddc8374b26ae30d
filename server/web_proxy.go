package server

import (
	"net/http"
	"net/textproto"
	"strings"

	"pushbox/internal/email"
	"pushbox/store"
	"pushbox/store/record"
)

// A proxied is a person whom a header of a proxy names. The zero value is none.
type proxied struct {
	email  string
	groups []string
}

// takeProxied returns whom the proxy names, and removes the headers, so that nothing else sees
// them. They count in requests of trusted proxies alone, and not at the entry point for
// recipients. A header that came twice counts for nothing: a proxy that adds to what a client
// sent does not protect it.
func (s *Server) takeProxied(e *entryPoint, hr *http.Request) (who proxied) {
	c := s.cfg.SignIn.Proxy
	if c.Header == "" {
		return proxied{}
	}
	take := func(name string) (value string) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if values := hr.Header[key]; len(values) == 1 {
			value = values[0]
		}
		delete(hr.Header, key)
		return value
	}
	address, groups := email.Fold(take(c.Header)), take(c.GroupsHeader)
	if e.recipients || !s.proxies.TrustsPeer(hr.RemoteAddr) || !email.IsAddress(address) {
		return proxied{}
	}
	who.email, who.groups = address, splitGroups(groups)
	return who
}

// splitGroups reads a list of groups. Proxies separate them by a bar or a comma. Where there is a
// bar, a comma is a part of a name: else a group with a comma in its name would be two.
func splitGroups(list string) (groups []string) {
	separator := ","
	if strings.Contains(list, "|") {
		separator = "|"
	}
	for g := range strings.SplitSeq(list, separator) {
		if g = strings.TrimSpace(g); g != "" {
			groups = append(groups, g)
		}
	}
	return groups
}

// identity is that of the person.
func (p proxied) identity() record.Identity {
	return record.Identity{Issuer: store.ByProxy, Subject: p.email}
}

// isOther reports whether a session belongs to a person whom the proxy no longer names.
func (p proxied) isOther(i store.SessionInfo) bool {
	return i.Via.Issuer == store.ByProxy && i.Via != p.identity()
}

// signInProxied begins a session for the person whom the proxy names.
func (s *Server) signInProxied(r *request) (reply, error) {
	c := s.cfg.SignIn.Proxy
	x := store.External{
		Identity: r.proxied.identity(), Provider: "the proxy", Email: r.proxied.email, Verified: true, Groups: r.proxied.groups,
		Admin: administers(c.AdminGroups, r.proxied.groups), Link: true, Create: c.CreateAccounts,
	}
	if !isAllowed(c.AllowedGroups, r.proxied.groups) {
		x.Denied, x.Why = true, "the person is in none of allowed_groups"
	}
	n, err := s.store.SignInAs(r.Context(), r.actor, x)
	if err != nil {
		page := s.newSignInView(s.wanted(r))
		if page.Error, err = s.newFormError(err, "sign_in_refused"); err != nil {
			return reply{}, err
		}
		return s.showSignIn(r, page)
	}
	return s.begin(r, n)
}
