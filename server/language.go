package server

import (
	"net/http"

	"pushbox/internal/lang"
	"pushbox/server/action"
)

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
	if c, err := r.OwnCookie(action.LanguageName); wanted == "" && err == nil && s.words.Speaks(c.Value) {
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
