package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A door is a way into the server. What it knows of is all that there is behind it.
type door struct {
	router *router
	cross  *http.CrossOriginProtection
	public bool // it has the public routes alone, and no sessions
	named  bool // base_url, where it is set, is the address of this door
}

// Public is the door for those who were sent a link. It answers what a recipient
// needs: the pages of a push, its retrieval, preview and deletion by the API,
// downloads, assets and health. Everything else is not there, and no page leads to
// it. Like the server, it is safe for concurrent use.
func (s *Server) Public() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) { s.serve(true, w, hr) })
}

func (s *Server) door(public bool) *door {
	if public {
		return &s.outer
	}
	return &s.inner
}

// openDoors makes both doors. Links are for recipients: where there is a door for
// them, base_url is its address and not that of the other one.
func (s *Server) openDoors() (err error) {
	rows := s.routes()
	open := slices.DeleteFunc(slices.Clone(rows), func(r route) bool { return !r.public })
	s.inner = door{router: newRouter(rows, s.cfg.BasePath), named: s.cfg.PublicListen == ""}
	s.outer = door{router: newRouter(open, s.cfg.BasePath), named: true, public: true}
	for _, d := range []*door{&s.inner, &s.outer} {
		d.cross = http.NewCrossOriginProtection()
		if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Host != "" && d.named { // a proxy may tell another host
			if err := d.cross.AddTrustedOrigin(originOf(u)); err != nil {
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
