package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pushbox/server/action"
)

// A door is an entry point with what the server needs to answer there.
type door struct {
	action.Entry
	router *router
	cross  *http.CrossOriginProtection
}

// Public returns the entry point for recipients. It has what they need: the pages of
// a push, its retrieval, preview and deletion by the API, downloads, assets and
// health. Every other path is unknown there, and no page leads to one. Like the
// server, it is safe for concurrent use.
func (s *Server) Public() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) { s.serve(true, w, hr) })
}

// door returns an entry point: that for recipients, or the full one.
func (s *Server) door(recipients bool) *door {
	if recipients {
		return &s.recipients
	}
	return &s.full
}

// openEntries makes both entry points. Links are for recipients: if recipients have
// an entry point of their own, base_url is the address of that one.
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
			if err := e.cross.AddTrustedOrigin(originOf(u)); err != nil {
				return err
			}
		}
	}
	return nil
}

// originOf is the origin of a URL as browsers write it (RFC 6454 section 6.2).
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + host
}
