package server

import (
	"slices"

	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// schemaNewFile is the name of the schema of a file in a request to create a push.
const schemaNewFile = "NewFile"

// newPushSchemas are the names of the schemas of a push to be created, by the object that
// has its fields. With JSON, Form or Multipart behind it, such a name is that of the body.
var newPushSchemas = map[string]string{
	pushV2.wrapper: "NewPush", passwordV1.wrapper: "NewPassword", filesV1.wrapper: "NewFilePush", urlV1.wrapper: "NewURL",
}

// createBody is the body of a create request, in each of its types.
func (s *Server) createBody(how spelling, schemas *openapi.Ordered[*openapi.Schema]) *openapi.Body {
	name, fields, offers := newPushSchemas[how.wrapper], s.createFields(how), s.offers(how)
	schemas.Add(name+"JSON", &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{how.wrapper},
		Properties: openapi.Ordered[*openapi.Schema]{{Name: how.wrapper, Value: openapi.Ref(name)}},
	})
	schemas.Add(name, how.pushSchema(fields, offers, func(name string) string { return name }))
	if s.takesFiles(how) {
		schemas.Add(schemaNewFile, newFileSchema())
	}
	example := s.examplePush(how)
	out := &openapi.Body{Required: true}
	out.Content.Add(body.TypeJSON, openapi.Media{Schema: openapi.Ref(name + "JSON"), Example: openapi.Ordered[any]{{Name: how.wrapper, Value: example}}})

	form := make(openapi.Ordered[any], len(example))
	for i, m := range example {
		if form[i] = (openapi.Member[any]{Name: how.bracketed(m.Name), Value: m.Value}); m.Name == store.FieldFiles {
			form[i].Value = []string{exampleFile}
		}
	}
	if how.kind != record.File { // whose files need parts
		isFile := func(o kindTerms) bool { return o.kind == record.File }
		texts := slices.DeleteFunc(slices.Clone(fields), func(f apiField) bool { return f.name == store.FieldFiles })
		schemas.Add(name+"Form", how.pushSchema(texts, slices.DeleteFunc(slices.Clone(offers), isFile), how.bracketed))
		out.Content.Add(body.TypeForm, openapi.Media{Schema: openapi.Ref(name + "Form"), Example: form})
	}
	schemas.Add(name+"Multipart", how.pushSchema(inParts(fields), offers, how.bracketed))
	out.Content.Add(body.TypeMultipart, openapi.Media{Schema: openapi.Ref(name + "Multipart"), Example: form})
	return out
}

// bracketed returns the name that a field of a push has in a form.
func (how spelling) bracketed(name string) string {
	if name == store.FieldFiles {
		return how.wrapper + "[" + name + "][]"
	}
	return how.wrapper + "[" + name + "]"
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
// condition that the push is of that kind, unless there is no other. Conditions and rules
// say that they leave other properties alone: some linters take them for schemas of a
// whole push.
func (how spelling) pushSchema(fields []apiField, offers []kindTerms, named func(string) string) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"object"}, MinProperties: 1, Description: "A push to create. Unknown keys are ignored."}
	for _, f := range fields {
		s.Properties.Add(named(f.name), f.describe())
	}
	for _, o := range offers {
		rule := o.rule(named)
		if how.kind == 0 {
			rule = &openapi.Schema{If: o.asked(named), Then: rule, Unevaluated: true}
		}
		s.AllOf = append(s.AllOf, rule)
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
	case record.File:
		implied.Properties.Add(files, &openapi.Schema{MinItems: 1})
		implied.Required = []string{files}
	case record.Text:
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
	case record.File:
		s.Required = []string{named(store.FieldFiles)}
		s.Properties.Add(named(store.FieldFiles), &openapi.Schema{MinItems: 1})
		payload.MinLength = 0
	case record.QR:
		payload.MaxLength = store.MaxQR
	case record.URL:
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
