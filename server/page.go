package server

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/internal/lang"
	"pushbox/server/web"
	"pushbox/store"
	"pushbox/store/record"
)

// show returns a reply with a page: the name of a template, and what it shows.
func show(status int, template string, page any) reply {
	return reply{status: status, template: template, body: page}
}

// goTo redirects the browser (RFC 9110 section 15.4.4), to a path that the server
// chose and never the client.
func goTo(path string) reply { return reply{status: http.StatusSeeOther, to: path} }

// with returns the reply with more cookies. A nil one is none.
func (r reply) with(cookies ...*http.Cookie) reply {
	for _, c := range cookies {
		if c != nil {
			r.cookies = append(r.cookies, c)
		}
	}
	return r
}

// siteFor returns the site as pages show it in the request's language.
func (s *Server) siteFor(r *request) web.Site {
	site := s.site
	if site.Tagline == "" {
		site.Tagline = r.locale.Text("frame_tagline")
	}
	site.Bare = r.entry.recipients || r.route != nil && r.route.has(forRecipients) && (r.route.guessable() || r.route.word != "")
	return site
}

// size writes a number of bytes in the reader's language, on one line.
func (r *request) size(bytes int64) string {
	number, unit := humanize.SizeParts(bytes)
	units := strings.Fields(r.locale.Text("size_units"))
	return strings.Replace(number, ".", r.locale.Text("size_point"), 1) + "\u00a0" + units[unit]
}

// sendBytes writes a body. For a HEAD request it sends only the body's length.
func sendBytes(w http.ResponseWriter, r *request, status int, body []byte) (int64, error) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	n, err := w.Write(body)
	return int64(n), err
}

// sendAsset writes an asset, which browsers may keep forever: compressed, if the client takes
// that. Of pages only those that never hold a secret are compressed, too: the size of a
// compressed page could tell something about a secret in it.
func sendAsset(w http.ResponseWriter, r *request, a web.Asset) (int64, error) {
	assetHeaders(w.Header(), a)
	if a.Gzip == nil {
		return sendBytes(w, r, http.StatusOK, a.Content)
	}
	w.Header()["Vary"] = byEncoding
	if !takesGzip(r.Header["Accept-Encoding"]) {
		return sendBytes(w, r, http.StatusOK, a.Content)
	}
	w.Header()["Content-Encoding"] = gzipped
	return sendBytes(w, r, http.StatusOK, a.Gzip)
}

// A text is a reply that is neither JSON nor a page.
type text struct {
	media string
	body  []byte
	write func(io.Writer) error // in place of body, for a text that may be long; nil: none
}

// where names the page in the navigation.
func (r *request) where() string {
	if r.route == nil {
		return ""
	}
	return r.route.nav
}

// forPeople reports whether an error becomes a page and not JSON: on the routes of
// pages, where a browser opens the address of a file, and at an unknown path that is
// not one for programs.
func (r *request) forPeople() bool {
	if r.route != nil && r.route.has(isPage) {
		return true
	}
	if r.route != nil {
		return r.Header.Get("Sec-Fetch-Dest") == "document" && r.route.guessable() && r.route.has(hasFiles)
	}
	path := strings.TrimPrefix(squeeze(r.URL.Path), r.entry.router.base)
	for _, programs := range [...]string{"/api/", "/d/", healthPath} {
		if strings.HasPrefix(path, programs) {
			return false
		}
	}
	return !isPathV1(path)
}

// problemView is what the page of an error shows.
type problemView struct {
	Key     string // of its messages, without _title and _text
	Request string // the request's ID; empty: the log has no more
	Seconds int    // to wait before the next try; 0: not known
}

// errExpired is record.ErrNotFound for a push that exists and has expired.
var errExpired = fmt.Errorf("%w: it has expired", record.ErrNotFound)

// errRequestOver is errExpired for a request for secrets.
var errRequestOver = fmt.Errorf("%w: so has the request", errExpired)

// notFoundIfExpired returns errExpired for a push that has expired or was
// deleted: it has the same page as an unknown one.
func notFoundIfExpired(p store.PushInfo) error {
	if p.Live() && p.At.Before(p.ExpiresAt) {
		return nil
	}
	return errExpired
}

// languageName is the name of the field of the query that switches the language, and
// of the cookie that keeps the choice.
const languageName = "lang"

// localeName is the name of the field of the query in which links of Password Pusher
// have a language.
const localeName = "locale"

// languageKept is how long the cookie lasts, in seconds: a year.
const languageKept = 365 * 24 * 60 * 60

// chooseLocale chooses the language of the answer: the one that the reader switched
// to, now or before, else the one that the browser asks for.
func (s *Server) chooseLocale(r *request) *lang.Locale {
	return s.words.Choose(s.switchedLanguage(r), r.Header.Get("Accept-Language"), s.cfg.DefaultLocale)
}

// switchedLanguage returns the tag of the language that the reader switched to, now or
// before; empty if it is none of the pages'.
func (s *Server) switchedLanguage(r *request) string {
	wanted := s.askedLanguage(r)
	if c, err := r.Cookie(languageName); wanted == "" && err == nil && s.words.Speaks(c.Value) {
		wanted = c.Value
	}
	return wanted
}

// speakTo answers a page in the language of the reader's account, unless the reader
// switched to another one in this browser.
func (s *Server) speakTo(r *request, language string) {
	if r.locale != nil && s.words.Speaks(language) && s.switchedLanguage(r) == "" {
		r.locale = s.words.Choose(language, "", "")
	}
}

// askedLanguage returns the tag of the language that the query asks for, or of the
// nearest one to that in a link of Password Pusher; empty if it asks for none.
func (s *Server) askedLanguage(r *request) string {
	query := r.URL.Query()
	if tag := query.Get(languageName); s.words.Speaks(tag) {
		return tag
	}
	return s.words.Near(query.Get(localeName))
}

// languageCookie returns a cookie that keeps the language that the request switches
// to; nil if it switches to none.
func (s *Server) languageCookie(r *request) *http.Cookie {
	if tag := s.askedLanguage(r); tag == r.locale.Tag {
		c := s.cookie(r, languageName, tag)
		c.MaxAge = languageKept
		return c
	}
	return nil
}

// noLanguageCookie removes that cookie.
func (s *Server) noLanguageCookie(r *request) *http.Cookie {
	c := s.cookie(r, languageName, "")
	c.MaxAge = -1
	return c
}
