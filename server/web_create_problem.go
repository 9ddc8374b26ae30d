package server

import (
	"strconv"
	"strings"

	"pushbox/store"
)

// A formProblem is what is wrong with a field of the form for a new push, in
// words of the page.
type formProblem struct {
	Field    string // its id on the page; empty: it is about none
	Key      string // of its message
	Min, Max string // the placeholders min and max
}

// formProblems puts it into words what is wrong with a push of these terms, in
// the order of the form.
func (s *Server) formProblems(t kindTerms, in *intake, invalid *store.InvalidError) (all []formProblem) {
	text, days, views := s.payloadProblem(t.kind, in.fields["payload"].text), t.days(), t.views()
	for _, row := range [...]struct {
		name string // that the store calls it by
		formProblem
	}{
		{accountField, formProblem{Key: "create_bad_account"}},
		{"kind", formProblem{Field: "kind", Key: "create_bad_kind"}},
		{"payload", text},
		{filesField, s.filesProblem(in)},
		{leftoverField, formProblem{Field: "kind", Key: "create_bad_leftover"}},
		{"expire_after_days", between("days", "create_bad_days", days)},
		{"expire_after_duration", between("time", "create_bad_time", days)},
		{"expire_after_views", between("views", "create_bad_views", views)},
		{"passphrase", formProblem{Field: "passphrase", Key: "create_bad_passphrase", Max: strconv.Itoa(store.MaxPassphrase)}},
		{"name", formProblem{Field: "name", Key: "create_bad_name", Max: strconv.Itoa(store.MaxName)}},
		{"note", formProblem{Field: "note", Key: "create_bad_note", Max: fileSize(store.MaxNote)}},
		{store.FieldMailTo, formProblem{Field: mailID, Key: "create_bad_mail", Max: strconv.Itoa(s.cfg.Mail.MaxRecipients)}},
		{store.FieldMailLanguage, formProblem{Field: mailLanguageID, Key: "create_bad_mail_language"}},
		{quotaField, formProblem{Field: mailID, Key: "create_bad_mail_limit"}},
	} {
		if _, bad := invalid.Fields[row.name]; bad {
			all = append(all, row.formProblem)
		}
	}
	return all
}

func between(field, key string, r store.Range) formProblem {
	return formProblem{field, key, strconv.Itoa(r.Min), strconv.Itoa(r.Max)}
}

// payloadProblem says what can be wrong with the text of a push of that kind.
func (s *Server) payloadProblem(k store.Kind, text string) formProblem {
	p := formProblem{Field: "payload", Key: "create_bad_long", Max: fileSize(store.MaxText)}
	switch {
	case k != store.File && strings.TrimSpace(text) == "":
		p.Key = "create_bad_empty"
	case k == store.URL && len(text) <= store.MaxText:
		p.Key = "create_bad_url"
	case k == store.QR:
		p.Key, p.Max = "create_bad_qr", strconv.Itoa(store.MaxQR)
	}
	return p
}

// filesProblem says what can be wrong with the files of a push.
func (s *Server) filesProblem(in *intake) formProblem {
	p := formProblem{Field: "files", Key: "create_bad_files", Max: strconv.Itoa(s.cfg.Files.MaxFileUploads)}
	if in.files == nil {
		p.Key = "create_bad_no_files"
	}
	return p
}

// Problem is what is wrong with a field, by its id; nil: nothing.
func (p createPage) Problem(field string) *formProblem {
	for i := range p.Problems {
		if p.Problems[i].Field == field {
			return &p.Problems[i]
		}
	}
	return nil
}
