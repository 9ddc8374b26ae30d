package server

import (
	"net/http"
	"strconv"

	"pushbox/internal/lang"
	"pushbox/server/action"
	"pushbox/server/web"
)

// sendBytes writes a body. For a HEAD request it sends only the body's length.
func sendBytes(w http.ResponseWriter, r *action.Request, status int, body []byte) (int64, error) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	n, err := w.Write(body)
	return int64(n), err
}

// sendAsset writes an asset, which browsers may keep forever: compressed, if the client takes that.
// It compresses only pages without secrets: the size of a compressed page could reveal something
// about a secret in it.
func sendAsset(w http.ResponseWriter, r *action.Request, a web.Asset) (int64, error) {
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

// languageKept is how long the cookie lasts, in seconds: a year.
const languageKept = 365 * 24 * 60 * 60

// chooseLocale chooses the language of the answer: the one that the reader switched to, now or
// before, else the browser's.
func (s *Server) chooseLocale(r *action.Request) *lang.Locale {
	return s.words.Choose(s.switchedLanguage(r), r.Header.Get("Accept-Language"), s.cfg.DefaultLocale)
}

// switchedLanguage returns the tag of the language that the reader switched to, now or
// before; empty if it is none of the pages'.
func (s *Server) switchedLanguage(r *action.Request) string {
	wanted := s.askedLanguage(r)
	if c, err := r.Cookie(action.LanguageName); wanted == "" && err == nil && s.words.Speaks(c.Value) {
		wanted = c.Value
	}
	return wanted
}

// speakTo answers a page in the language of the reader's account, unless the reader
// switched to another one in this browser.
func (s *Server) speakTo(r *action.Request, language string) {
	if r.Locale != nil && s.words.Speaks(language) && s.switchedLanguage(r) == "" {
		r.Locale = s.words.Choose(language, "", "")
	}
}

// askedLanguage returns the tag of the language that the query asks for, or of the
// nearest one to that in a link of Password Pusher; empty if it asks for none.
func (s *Server) askedLanguage(r *action.Request) string {
	query := r.URL.Query()
	if tag := query.Get(action.LanguageName); s.words.Speaks(tag) {
		return tag
	}
	return s.words.Near(query.Get(action.LocaleName))
}

// languageCookie returns a cookie that keeps the language that the request switches
// to; nil if it switches to none.
func (s *Server) languageCookie(r *action.Request) *http.Cookie {
	if tag := s.askedLanguage(r); tag == r.Locale.Tag {
		c := r.NewCookie(action.LanguageName, tag)
		c.MaxAge = languageKept
		return c
	}
	return nil
}
