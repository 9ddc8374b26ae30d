package server

import (
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// mailing reads who is to get the link of a push by mail; nil: nobody. A blank text is
// none.
func (r *form) mailing() *store.Mailing {
	to, language := r.secret(store.FieldMailTo), strings.TrimSpace(r.secret(store.FieldMailLanguage).Reveal())
	if strings.TrimSpace(to.Reveal()) == "" && language == "" {
		return nil
	}
	return &store.Mailing{To: to, Language: language}
}

// linksFrom has the links in mail begin with base.
func linksFrom(base string) func(store.PushInfo) secret.Text {
	return func(p store.PushInfo) secret.Text { return secret.New(htmlURL(p, base)) }
}
