package server

import (
	"net/http"

	"pushbox/internal/lang"
)

// languageName is the name of the query's field that switches the language, and
// of the cookie that keeps it.
const languageName = "lang"

// languageKept is how long the cookie lasts, in seconds: a year.
const languageKept = 365 * 24 * 60 * 60

// chooseLocale finds out which language to answer in: what was switched to, now
// or before, else what the browser asks for.
func (s *Server) chooseLocale(r *request) *lang.Locale {
	wanted := r.URL.Query().Get(languageName)
	if !s.words.Speaks(wanted) {
		if c, err := r.Cookie(languageName); err == nil {
			wanted = c.Value
		}
	}
	return s.words.Choose(wanted, r.Header.Get("Accept-Language"), s.cfg.DefaultLocale)
}

// languageCookie keeps the language that the request switches to; nil if it
// switches to none.
func (s *Server) languageCookie(r *request) *http.Cookie {
	if tag := r.URL.Query().Get(languageName); tag == r.locale.Tag {
		c := s.cookie(r, languageName, tag)
		c.MaxAge = languageKept
		return c
	}
	return nil
}
