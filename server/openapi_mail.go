package server

import (
	"strconv"
	"strings"

	"pushbox/internal/lang"
	"pushbox/store"
)

// specNotify is what is sent to have mail sent, as the document calls it.
const specNotify = "NewMail"

const errNoFields = badRequest("The request body must be an object with notify_emails_to, such as {\"notify_emails_to\":\"ann@example.com\"}, or a form with that field.")

// mailFields are the fields of a push that say who gets its link by mail.
func (s *Server) mailFields() []apiField {
	most := s.cfg.Mail.MaxRecipients
	return []apiField{
		{
			name: store.FieldMailTo, in: "body",
			text:     "E-mail addresses, separated by commas and without names, that the link is sent to; only with an API token.",
			bounds:   "at most " + strconv.Itoa(most) + " addresses",
			fallback: "nobody", schema: textSchema(),
		},
		{
			name: store.FieldMailLanguage, in: "body",
			text:     "Language of the mail.",
			bounds:   "one of " + strings.Join(lang.Tags(), ", "),
			fallback: s.cfg.DefaultLocale, schema: &specSchema{Type: specTypes{"string"}, Enum: lang.Tags()},
		},
	}
}

// notifyFields are the fields of a request for mail.
func (s *Server) notifyFields() []apiField {
	all := s.mailFields()
	all[0].fallback = ""
	return all
}

// notifyBody is the body of a request for mail, in each of its types.
func (s *Server) notifyBody(schemas *ordered[*specSchema]) *specBody {
	schema := &specSchema{
		Type: specTypes{"object"}, Required: []string{store.FieldMailTo},
		Description: "Who gets the link of the push. Keys that are not known are ignored.",
	}
	for _, f := range s.notifyFields() {
		schema.Properties.add(f.name, f.describe())
	}
	schemas.add(specNotify, schema)
	media := specMedia{Schema: schemaNamed(specNotify), Example: exampleNotify()}
	return &specBody{Required: true, Content: ordered[specMedia]{{typeJSON, media}, {typeForm, media}, {typeMultipart, media}}}
}

// exampleNotify are such fields.
func exampleNotify() ordered[any] {
	return ordered[any]{{store.FieldMailTo, "ann@example.com, bob@example.com"}, {store.FieldMailLanguage, "en"}}
}

// invalidMail is an error of such fields.
func invalidMail() *store.InvalidError {
	var bad store.InvalidError
	bad.Add(store.FieldMailTo, "is required")
	return &bad
}
