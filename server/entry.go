package server

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
)

// A door is an entry point with the state that the server needs for it.
type door struct {
	action.Entry
	router *router
	cross  *http.CrossOriginProtection
}

// Public returns the entry point for recipients. It has only the routes that they need: the pages
// of a push, its retrieval, preview and deletion by the API, downloads, assets and health. Every
// other path is unknown there, and pages do not link to it. Like the server, it is safe for
// concurrent use.
func (s *Server) Public() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) { s.serve(true, w, hr) })
}

// door returns the entry point for recipients, or the full one.
func (s *Server) door(recipients bool) *door {
	if recipients {
		return &s.recipients
	}
	return &s.full
}

// openEntries makes both entry points. Links are for recipients: if they have a separate entry
// point, base_url is its address.
func (s *Server) openEntries() (err error) {
	rows := s.served()
	shared := slices.DeleteFunc(slices.Clone(rows), func(r action.Route) bool { return !r.Has(action.ForRecipients) })
	at := action.Entry{Proxies: s.proxies, BasePath: s.cfg.BasePath, BaseURL: s.cfg.BaseURL}
	s.full = door{Entry: at, router: newRouter(rows, s.cfg.BasePath)}
	s.recipients = door{Entry: at, router: newRouter(shared, s.cfg.BasePath)}
	s.full.Named = s.cfg.PublicListen == ""
	s.recipients.Named, s.recipients.Recipients = true, true
	for _, e := range []*door{&s.full, &s.recipients} {
		e.cross = http.NewCrossOriginProtection()
		if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Host != "" && e.Named { // a proxy may pass on another host
			if err := e.cross.AddTrustedOrigin(action.OriginOf(u)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findPage returns the route of a page at the full entry point, below base_path; nil if there is
// none.
func (s *Server) findPage(path string) *action.Route {
	route, _ := s.full.router.find(http.MethodGet, s.cfg.BasePath+path)
	return route
}

// takeProxied returns the person that the proxy names, and removes the headers, so that no other
// code sees them. They count only in requests of trusted proxies, and not at the entry point for
// recipients. A repeated header does not count: a proxy that only adds a header does not protect
// against forged ones.
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

// splitGroups reads a list of groups. Proxies separate them by a bar or a comma. In a list with a
// bar, a comma is part of a name, so that a group with a comma in its name stays one group.
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
