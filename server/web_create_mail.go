package server

import (
	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/store"
)

// Ids of the fields for mail on the page.
const (
	mailID         = "mail-to"
	mailLanguageID = "mail-language"
)

// A mailForm is the part of the form that has the link sent by mail.
type mailForm struct {
	To        secret.Text
	Max       int // addresses
	Language  string
	Languages []lang.Language
}

// newMailForm is that part, with these fields filled in; nil where it is not offered.
func (s *Server) newMailForm(r *request, f fields) *mailForm {
	if !s.cfg.Mail.Enabled() || r.actor.Account == 0 {
		return nil
	}
	m := &mailForm{
		To: secret.New(f[store.FieldMailTo].text), Max: s.cfg.Mail.MaxRecipients,
		Language: f[store.FieldMailLanguage].text, Languages: lang.Languages(),
	}
	if !s.words.Speaks(m.Language) {
		m.Language = r.locale.Tag
	}
	return m
}

// mostAddresses is how many bytes of addresses come back with a form.
func (s *Server) mostAddresses() int { return s.cfg.Mail.MaxRecipients * (store.MaxEmail + len(", ")) }
