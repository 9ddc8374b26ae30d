package server

import (
	"strconv"
	"strings"

	"pushbox/internal/lang"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// schemaNotify is the name of the schema of a request for mail.
const schemaNotify = "NewMail"

const errNoFields = badRequest("The request body must be an object with notify_emails_to, such as {\"notify_emails_to\":\"ann@example.com\"}, or a form with that field.")

// mailFields are the fields of a push that say who gets its link by mail.
func (s *Server) mailFields() []apiField {
	most := s.cfg.Mail.MaxRecipients
	return []apiField{
		{
			name: store.FieldMailTo, in: "body",
			text:     "E-mail addresses that get the link, separated by commas and without names; only with an API token, of an account whose own address is confirmed.",
			bounds:   "at most " + strconv.Itoa(most) + " addresses",
			fallback: "no mail", schema: openapi.Text(),
		},
		{
			name: store.FieldMailLanguage, in: "body",
			text:     "Language of the mail. Another tag, such as pt-BR, means the nearest of them, or else the server's language.",
			bounds:   "one of " + strings.Join(lang.Tags(), ", "),
			fallback: s.cfg.DefaultLocale, schema: &openapi.Schema{Type: openapi.Types{"string"}, Enum: lang.Tags()},
		},
	}
}

// notifyFields documents the fields of a request for mail.
func (s *Server) notifyFields() []apiField {
	all := s.mailFields()
	all[0].fallback = ""
	return all
}

// notifyBody documents the body of a request for mail, in each media type.
func (s *Server) notifyBody(schemas *openapi.Ordered[*openapi.Schema]) *openapi.Body {
	schema := &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{store.FieldMailTo},
		Description: "Recipients of the push's link. Unknown keys are ignored.",
	}
	for _, f := range s.notifyFields() {
		schema.Properties.Add(f.name, f.describe())
	}
	schemas.Add(schemaNotify, schema)
	media := openapi.Media{Schema: openapi.Ref(schemaNotify), Example: exampleNotify()}
	return &openapi.Body{Required: true, Content: openapi.Ordered[openapi.Media]{{Name: body.TypeJSON, Value: media}, {Name: body.TypeForm, Value: media}, {Name: body.TypeMultipart, Value: media}}}
}

// exampleNotify is an example of these fields.
func exampleNotify() openapi.Ordered[any] {
	return openapi.Ordered[any]{{Name: store.FieldMailTo, Value: "ann@example.com, bob@example.com"}, {Name: store.FieldMailLanguage, Value: "en"}}
}

// invalidMail is an example of an error in these fields.
func invalidMail() *record.InvalidError {
	var bad record.InvalidError
	bad.Add(store.FieldMailTo, "is required")
	return &bad
}
