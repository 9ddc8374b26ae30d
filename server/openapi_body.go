package server

import (
	"slices"

	"pushbox/store"
)

// The schemas of what is sent, as the document calls them.
const (
	specNewPush      = "NewPush"
	specNewFile      = "NewFile"
	specNewJSON      = "NewPushJSON"
	specNewForm      = "NewPushForm"
	specNewMultipart = "NewPushMultipart"
)

// createBody is the body of a create request, in each of its types.
func (s *Server) createBody(schemas *ordered[*specSchema]) *specBody {
	offers := s.offers()
	fields := s.createFields(offers)
	texts := slices.DeleteFunc(slices.Clone(fields), func(f apiField) bool { return f.name == filesField })
	textOffers := slices.DeleteFunc(slices.Clone(offers), func(o kindTerms) bool { return o.kind == store.File })

	schemas.add(specNewJSON, &specSchema{
		Type: specTypes{"object"}, Required: []string{"push"},
		Properties: ordered[*specSchema]{{"push", schemaNamed(specNewPush)}},
	})
	schemas.add(specNewPush, pushSchema(fields, offers, func(name string) string { return name }))
	if s.cfg.EnableFilePushes {
		schemas.add(specNewFile, newFileSchema())
	}
	schemas.add(specNewForm, pushSchema(texts, textOffers, bracketed))
	schemas.add(specNewMultipart, pushSchema(inParts(fields), offers, bracketed))

	example := s.examplePush()
	form := make(ordered[any], len(example))
	for i, m := range example {
		form[i] = entryOf[any]{bracketed(m.name), m.value}
	}
	return &specBody{Required: true, Content: ordered[specMedia]{
		{typeJSON, specMedia{Schema: schemaNamed(specNewJSON), Example: ordered[any]{{"push", example}}}},
		{typeForm, specMedia{Schema: schemaNamed(specNewForm), Example: form}},
		{typeMultipart, specMedia{Schema: schemaNamed(specNewMultipart), Example: form}},
	}}
}

// bracketed is the name of a field of a push in a form.
func bracketed(name string) string {
	if name == filesField {
		return "push[" + name + "][]"
	}
	return "push[" + name + "]"
}

// inParts are the fields with files as multipart/form-data has them.
func inParts(fields []apiField) []apiField {
	fields = slices.Clone(fields)
	for i, f := range fields {
		if f.name == filesField {
			s := *f.schema
			s.Items = &specSchema{Type: specTypes{"string"}, ContentMediaType: fileType[0]}
			fields[i].schema = &s
		}
	}
	return fields
}

// pushSchema is a push to be created. What holds for one kind alone is a rule
// that asks for the kind.
func pushSchema(fields []apiField, offers []kindTerms, named func(string) string) *specSchema {
	s := &specSchema{Type: specTypes{"object"}, MinProperties: 1, Description: "A push to be created. Keys that are not known are ignored."}
	for _, f := range fields {
		s.Properties.add(named(f.name), f.describe())
	}
	for _, o := range offers {
		s.AllOf = append(s.AllOf, &specSchema{If: o.asked(named), Then: o.rule(named)})
	}
	return s
}

// asked says when a push is of the kind: a push with files is a file push, and may
// say no other kind.
func (o kindTerms) asked(named func(string) string) *specSchema {
	kind, files := named("kind"), named(filesField)
	says := ordered[*specSchema]{{kind, &specSchema{Enum: []string{o.kind.String()}}}}
	if o.kind == store.File {
		return &specSchema{AnyOf: []*specSchema{
			{Properties: says, Required: []string{kind}},
			{Properties: ordered[*specSchema]{{files, &specSchema{MinItems: 1}}}, Required: []string{files}},
		}}
	}
	says.add(files, &specSchema{MaxItems: new(0)})
	s := &specSchema{Properties: says}
	if o.kind != store.Text { // which is what silence means
		s.Required = []string{kind}
	}
	return s
}

// rule is what a push of the kind must be.
func (o kindTerms) rule(named func(string) string) *specSchema {
	payload := &specSchema{MinLength: 1, MaxLength: store.MaxText}
	days, views := o.days(), o.views()
	s := &specSchema{Required: []string{named("payload")}}
	switch o.kind {
	case store.File:
		s.Required = []string{named(filesField)}
		s.Properties.add(named(filesField), &specSchema{MinItems: 1})
		s.Properties.add(named("kind"), &specSchema{Enum: []string{o.kind.String()}})
		payload.MinLength = 0
	case store.QR:
		payload.MaxLength = store.MaxQR
	case store.URL:
		payload.Pattern = "^[Hh][Tt][Tt][Pp][Ss]?://"
	}
	s.Properties.add(named("payload"), payload)
	s.Properties.add(named("expire_after_days"), &specSchema{Minimum: &days.Min, Maximum: &days.Max, Default: days.Default})
	s.Properties.add(named("expire_after_views"), &specSchema{Minimum: &views.Min, Maximum: &views.Max, Default: views.Default})
	s.Properties.add(named("retrieval_step"), &specSchema{Default: usually(o.step())})
	s.Properties.add(named("deletable_by_viewer"), &specSchema{Default: usually(o.delete())})
	return s
}

// newFileSchema is a file in JSON.
func newFileSchema() *specSchema {
	return &specSchema{
		Type: specTypes{"object"}, Required: []string{"content"}, Description: "A file to be pushed.",
		Properties: ordered[*specSchema]{
			{"filename", &specSchema{Type: specTypes{"string", "null"}, Description: "Its name. Path parts and invisible characters are dropped."}},
			{"content_type", &specSchema{Type: specTypes{"string", "null"}, Description: "Its type, which is told to whoever retrieves it."}},
			{"content", &specSchema{Type: specTypes{"string"}, ContentEncoding: "base64", Description: "Its content in standard base64 with padding."}},
		},
	}
}
