package server

import (
	"slices"

	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
)

// Names of the schemas of a request to create a push.
const (
	schemaNewPush      = "NewPush"
	schemaNewFile      = "NewFile"
	schemaNewJSON      = "NewPushJSON"
	schemaNewForm      = "NewPushForm"
	schemaNewMultipart = "NewPushMultipart"
)

// createBody is the body of a create request, in each of its types.
func (s *Server) createBody(schemas *openapi.Ordered[*openapi.Schema]) *openapi.Body {
	offers := s.offers()
	fields := s.createFields(offers)
	texts := slices.DeleteFunc(slices.Clone(fields), func(f apiField) bool { return f.name == store.FieldFiles })
	textOffers := slices.DeleteFunc(slices.Clone(offers), func(o kindTerms) bool { return o.kind == store.File })

	schemas.Add(schemaNewJSON, &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{"push"},
		Properties: openapi.Ordered[*openapi.Schema]{{Name: "push", Value: openapi.Ref(schemaNewPush)}},
	})
	schemas.Add(schemaNewPush, pushSchema(fields, offers, func(name string) string { return name }))
	if s.cfg.EnableFilePushes {
		schemas.Add(schemaNewFile, newFileSchema())
	}
	schemas.Add(schemaNewForm, pushSchema(texts, textOffers, bracketed))
	schemas.Add(schemaNewMultipart, pushSchema(inParts(fields), offers, bracketed))

	example := s.examplePush()
	form := make(openapi.Ordered[any], len(example))
	for i, m := range example {
		form[i] = openapi.Member[any]{Name: bracketed(m.Name), Value: m.Value}
	}
	return &openapi.Body{Required: true, Content: openapi.Ordered[openapi.Media]{
		{Name: body.TypeJSON, Value: openapi.Media{Schema: openapi.Ref(schemaNewJSON), Example: openapi.Ordered[any]{{Name: "push", Value: example}}}},
		{Name: body.TypeForm, Value: openapi.Media{Schema: openapi.Ref(schemaNewForm), Example: form}},
		{Name: body.TypeMultipart, Value: openapi.Media{Schema: openapi.Ref(schemaNewMultipart), Example: form}},
	}}
}

// bracketed returns the name that a field of a push has in a form.
func bracketed(name string) string {
	if name == store.FieldFiles {
		return "push[" + name + "][]"
	}
	return "push[" + name + "]"
}

// inParts returns the fields with the schema of files for multipart/form-data.
func inParts(fields []apiField) []apiField {
	fields = slices.Clone(fields)
	for i, f := range fields {
		if f.name == store.FieldFiles {
			s := *f.schema
			s.Items = &openapi.Schema{Type: openapi.Types{"string"}, ContentMediaType: fileType[0]}
			fields[i].schema = &s
		}
	}
	return fields
}

// pushSchema returns the schema of a push to be created. Each kind has a rule, on the
// condition that the push is of that kind. Conditions and rules say that they leave other
// properties alone: some linters take them for schemas of a whole push.
func pushSchema(fields []apiField, offers []kindTerms, named func(string) string) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"object"}, MinProperties: 1, Description: "A push to create. Unknown keys are ignored."}
	for _, f := range fields {
		s.Properties.Add(named(f.name), f.describe())
	}
	for _, o := range offers {
		s.AllOf = append(s.AllOf, &openapi.Schema{If: o.asked(named), Then: o.rule(named), Unevaluated: true})
	}
	return s
}

// asked is the condition that a push is of the kind. A push that names none is of kind
// file if it has files, else of kind text.
func (o kindTerms) asked(named func(string) string) *openapi.Schema {
	kind, files := named(store.FieldKind), named(store.FieldFiles)
	says := openapi.Ordered[*openapi.Schema]{{Name: kind, Value: &openapi.Schema{Enum: []string{o.kind.String()}}}}
	stated := &openapi.Schema{Properties: says, Required: []string{kind}, Unevaluated: true}
	implied := &openapi.Schema{Properties: slices.Clone(says), Unevaluated: true}
	switch o.kind {
	case store.File:
		implied.Properties.Add(files, &openapi.Schema{MinItems: 1})
		implied.Required = []string{files}
	case store.Text:
		implied.Properties.Add(files, &openapi.Schema{MaxItems: new(0)})
	default:
		return stated
	}
	return &openapi.Schema{AnyOf: []*openapi.Schema{stated, implied}, Unevaluated: true}
}

// rule is the schema that a push of the kind must match.
func (o kindTerms) rule(named func(string) string) *openapi.Schema {
	payload := &openapi.Schema{MinLength: 1, MaxLength: store.MaxText}
	days, views := o.Days, o.Views
	s := &openapi.Schema{Required: []string{named(store.FieldPayload)}, Unevaluated: true}
	switch o.kind {
	case store.File:
		s.Required = []string{named(store.FieldFiles)}
		s.Properties.Add(named(store.FieldFiles), &openapi.Schema{MinItems: 1})
		payload.MinLength = 0
	case store.QR:
		payload.MaxLength = store.MaxQR
	case store.URL:
		payload.Pattern = "^[Hh][Tt][Tt][Pp][Ss]?://"
	}
	s.Properties.Add(named(store.FieldPayload), payload)
	s.Properties.Add(named(store.FieldDays), &openapi.Schema{Minimum: &days.Min, Maximum: &days.Max})
	s.Properties.Add(named(store.FieldViews), &openapi.Schema{Minimum: &views.Min, Maximum: &views.Max})
	return s
}

// newFileSchema is the schema of a file in JSON.
func newFileSchema() *openapi.Schema {
	return &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{"content"}, Description: "A file of the push.",
		Properties: openapi.Ordered[*openapi.Schema]{
			{Name: "filename", Value: &openapi.Schema{Type: openapi.Types{"string", "null"}, Description: "Its name. Path parts and invisible characters are dropped."}},
			{Name: "content_type", Value: &openapi.Schema{Type: openapi.Types{"string", "null"}, Description: "Its type, which recipients see."}},
			{Name: "content", Value: &openapi.Schema{Type: openapi.Types{"string"}, ContentEncoding: "base64", Description: "Its content in standard base64 with padding."}},
		},
	}
}
