package server

import (
	"net/http"
	"strconv"
	"strings"

	"pushbox/server/web"
	"pushbox/store"
)

// show is a reply that is a page: the template of that name with what it shows.
func show(status int, template string, page any) reply {
	return reply{status: status, template: template, body: page}
}

// goTo is a reply that sends the browser on, to a path of ours that nobody else
// chose (RFC 9110 section 15.4.4).
func goTo(path string) reply { return reply{status: http.StatusSeeOther, to: path} }

// with returns the reply with a cookie more.
func (r reply) with(c *http.Cookie) reply {
	r.cookies = append(r.cookies, c)
	return r
}

// pagePolicy is the Content-Security-Policy of pages: what they need is served
// beside them, and nothing is inline.
var pagePolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"}

// pageReferrer has a browser tell no path to anybody. It must tell the origin: on
// plain HTTP nothing else says where a form was sent from.
var pageReferrer = []string{"strict-origin"}

var (
	htmlType   = []string{"text/html; charset=utf-8"}
	sameOrigin = []string{"same-origin"}
	immutable  = []string{"public, max-age=31536000, immutable"}
)

// siteFor is the site as its pages show it in the request's language.
func (s *Server) siteFor(r *request) web.Site {
	site := s.site
	if site.Tagline == "" {
		site.Tagline = r.locale.Text("frame_tagline")
	}
	site.Public = r.door.public
	return site
}

// sendBytes writes a body, or to a HEAD request no more than how long it is.
func sendBytes(w http.ResponseWriter, r *request, status int, body []byte) (int64, error) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	n, err := w.Write(body)
	return int64(n), err
}

// sendAsset writes a file that pages need, to be kept for good.
func sendAsset(w http.ResponseWriter, r *request, a web.Asset) (int64, error) {
	h := w.Header()
	h["Content-Type"] = []string{a.Type}
	h["Cache-Control"] = immutable
	h["Content-Security-Policy"] = noScript
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	return sendBytes(w, r, http.StatusOK, a.Content)
}

// A text is a reply that is neither JSON nor a page.
type text struct {
	media string
	body  []byte
}

// where names the page in the navigation.
func (r *request) where() string {
	if r.route == nil {
		return ""
	}
	return r.route.nav
}

// forPeople reports whether what goes wrong with a request is told as a page: on
// the routes of pages, where a browser opens the address of a file, and where
// there is nothing.
func (r *request) forPeople() bool {
	if r.route != nil && r.route.page {
		return true
	}
	if r.route != nil {
		return r.Header.Get("Sec-Fetch-Dest") == "document" && r.route.guessable() && r.route.files
	}
	for _, programs := range [...]string{"/api/", "/d/", healthPath} {
		if strings.HasPrefix(strings.TrimPrefix(r.URL.Path, r.door.router.base), programs) {
			return false
		}
	}
	return true
}

// problemPage is what the page of an error shows.
type problemPage struct {
	Key     string // of its messages, less _title and _text
	Request string // the request's id, where the log has more
	Seconds int    // until it is worth trying again; 0: not known
}

// gone is the one page for pushes that are unknown, have expired, or were deleted.
func gone(p store.PushInfo) error {
	if p.Live() && p.At.Before(p.ExpiresAt) {
		return nil
	}
	return store.ErrNotFound
}
