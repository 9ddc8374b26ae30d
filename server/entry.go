package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An entryPoint is a way into the server.
type entryPoint struct {
	router     *router
	cross      *http.CrossOriginProtection
	recipients bool // only the routes for recipients, and no sessions
	named      bool // base_url, if set, is its address
}

// Public returns the entry point for recipients. It has what they need: the pages of
// a push, its retrieval, preview and deletion by the API, downloads, assets and
// health. Every other path is unknown there, and no page leads to one. Like the
// server, it is safe for concurrent use.
func (s *Server) Public() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) { s.serve(true, w, hr) })
}

func (s *Server) entry(recipients bool) *entryPoint {
	if recipients {
		return &s.recipients
	}
	return &s.full
}

// openEntries makes both entry points. Links are for recipients: if recipients have
// an entry point of their own, base_url is the address of that one.
func (s *Server) openEntries() (err error) {
	rows := s.served()
	shared := slices.DeleteFunc(slices.Clone(rows), func(r route) bool { return !r.has(forRecipients) })
	s.full = entryPoint{router: newRouter(rows, s.cfg.BasePath), named: s.cfg.PublicListen == ""}
	s.recipients = entryPoint{router: newRouter(shared, s.cfg.BasePath), named: true, recipients: true}
	for _, e := range []*entryPoint{&s.full, &s.recipients} {
		e.cross = http.NewCrossOriginProtection()
		if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Host != "" && e.named { // a proxy may pass on another host
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
