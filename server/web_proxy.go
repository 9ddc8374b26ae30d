package server

import (
	"net/http"
	"net/textproto"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/store"
)

// takeProxied returns whom the proxy names, and removes the headers, so that nothing else sees
// them. They count in requests of trusted proxies alone, and not at the entry point for
// recipients. A header that came twice counts for nothing: a proxy that adds to what a client
// sent does not protect it.
func (s *Server) takeProxied(e *action.Entry, hr *http.Request) (who action.Proxied) {
	c := s.cfg.SignIn.Proxy
	if c.Header == "" {
		return action.Proxied{}
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
	if e.Recipients || !s.proxies.TrustsPeer(hr.RemoteAddr) || !email.IsAddress(address) {
		return action.Proxied{}
	}
	who.Email, who.Groups = address, splitGroups(groups)
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

// signInProxied begins a session for the person whom the proxy names.
func (s *Server) signInProxied(r *action.Request) (action.Reply, error) {
	c := s.cfg.SignIn.Proxy
	x := store.External{
		Identity: r.Proxied.Identity(), Provider: "the proxy", Email: r.Proxied.Email, Verified: true, Groups: r.Proxied.Groups,
		Admin: administers(c.AdminGroups, r.Proxied.Groups), Link: true, Create: c.CreateAccounts,
	}
	if !isAllowed(c.AllowedGroups, r.Proxied.Groups) {
		x.Denied, x.Why = true, "the person is in none of allowed_groups"
	}
	n, err := s.store.SignInAs(r.Context(), r.Actor, x)
	if err != nil {
		page := s.newSignInView(s.wanted(r))
		if page.Error, err = s.newFormError(err, "sign_in_refused"); err != nil {
			return action.Reply{}, err
		}
		return s.showSignIn(r, page)
	}
	return s.begin(r, n)
}
