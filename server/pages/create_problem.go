package pages

import (
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/endtoend"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// A formProblem is a problem with a field of the form for a new push, as a message of the page.
type formProblem struct {
	Field    string // its ID on the page; empty: the problem is about no field
	Key      string // of its message
	Min, Max string // the placeholders min and max
}

// A problemsView is the part of a page with the problems of its form.
type problemsView struct{ Problems []formProblem }

// Problem returns the problem of a field, by its ID; nil if there is none.
func (p problemsView) Problem(field string) *formProblem {
	for i := range p.Problems {
		if p.Problems[i].Field == field {
			return &p.Problems[i]
		}
	}
	return nil
}

// formProblems lists the problems of a push with these terms, in the order of the form.
func (s *Set) formProblems(t intake.KindTerms, c *intake.Draft, invalid *record.InvalidError) (all []formProblem) {
	text, days, views := payloadProblem(c.Request, t.Kind, c.Fields.Text(store.FieldPayload)), t.Days, t.Views
	if sendsLogin(c.Fields) {
		text.Field = "login-user"
	}
	time := "time"
	if c.Fields.Text(store.FieldDuration) == "" { // it was typed
		time = "days"
	}
	for _, row := range [...]struct {
		name string // in the *record.InvalidError
		formProblem
	}{
		{accountField, formProblem{Key: "create_bad_account"}},
		{otherField, formProblem{Key: "create_bad_other"}},
		{store.FieldKind, formProblem{Field: "kind", Key: "create_bad_kind"}},
		{store.FieldPayload, text},
		{besideField, formProblem{Field: "login-note", Key: "create_bad_beside"}},
		{plainField, formProblem{Field: "payload", Key: "create_encrypt_required"}},
		{store.FieldFiles, filesProblem(c)},
		{leftoverField, formProblem{Field: "kind", Key: "create_bad_leftover"}},
		{store.FieldDays, between("days", "create_bad_days", days)},
		{store.FieldDuration, between(time, "create_bad_time", days)},
		{store.FieldViews, between("views", "create_bad_views", views)},
		{store.FieldCloseAfter, between(closeID, "create_bad_time", days)},
		{store.FieldOpenFrom, formProblem{Field: store.FieldOpenFrom, Key: "create_bad_open_from"}},
		{store.FieldExpiresAt, between(store.FieldExpiresAt, "create_bad_expires_at", days)},
		{store.FieldPassphrase, passphraseProblem(c)},
		{store.FieldNetworks, formProblem{Field: "networks", Key: "create_bad_networks", Max: strconv.Itoa(clientip.MaxNetworks)}},
		{store.FieldName, formProblem{Field: "name", Key: "create_bad_name", Max: strconv.Itoa(store.MaxName)}},
		{store.FieldNote, formProblem{Field: "note", Key: "create_bad_note", Max: sizeText(c.Request, store.MaxNote)}},
		{store.FieldRecipient, formProblem{Field: "recipient", Key: "create_bad_recipient"}},
		{store.FieldMailTo, formProblem{Field: mailID, Key: "create_bad_mail", Max: strconv.Itoa(s.Config.Mail.MaxRecipients)}},
		{store.FieldMailLanguage, formProblem{Field: mailLanguageID, Key: "create_bad_mail_language"}},
		{quotaField, formProblem{Field: mailID, Key: "create_bad_mail_limit"}},
		{addresseeField, formProblem{Field: mailID, Key: "create_bad_mail_addressee"}},
		{unconfirmedField, formProblem{Field: mailID, Key: "create_mail_unconfirmed"}},
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

// payloadProblem returns the problem with the text of a push of a kind.
func payloadProblem(r *action.Request, k record.Kind, text string) formProblem {
	p := formProblem{Field: "payload", Key: "create_bad_long", Max: sizeText(r, store.MaxText)}
	if k == record.URL {
		p.Field = "url"
	}
	switch {
	case k != record.File && strings.TrimSpace(text) == "":
		p.Key = "create_bad_empty"
	case k == record.URL && len(text) <= store.MaxText:
		p.Key = "create_bad_url"
	case endtoend.IsEnvelope(text):
		p.Max = sizeText(r, endtoend.MaxText)
	case k == record.QR:
		p.Key, p.Max = "create_bad_qr", strconv.Itoa(store.MaxQR)
	}
	return p
}

// passphraseProblem returns the problem with the passphrase.
func passphraseProblem(c *intake.Draft) formProblem {
	if strings.TrimSpace(c.Fields.Text(store.FieldPassphrase)) == "" {
		return formProblem{Field: "passphrase", Key: "create_bad_no_passphrase"}
	}
	return formProblem{Field: "passphrase", Key: "create_bad_passphrase", Max: strconv.Itoa(store.MaxPassphrase)}
}

// filesProblem returns the problem with the files of a push.
func filesProblem(c *intake.Draft) formProblem {
	p := formProblem{Field: "files", Key: "create_bad_files", Max: strconv.Itoa(c.Policy.Files.MaxCount)}
	if c.Files == nil {
		p.Key = "create_bad_no_files"
	}
	return p
}

// Unfold reports whether the folded options hold a problem, or who may open the push, which is easily
// forgotten.
func (p createView) Unfold() bool {
	return p.Networks != "" || p.Named || slices.ContainsFunc(p.Problems, func(bad formProblem) bool {
		return slices.Contains([]string{closeID, store.FieldOpenFrom, store.FieldExpiresAt, "networks", "name", "note", "recipient", mailID, mailLanguageID}, bad.Field)
	})
}
