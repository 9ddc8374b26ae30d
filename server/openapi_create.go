package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// An apiField is a parameter of a request, or a field of a push to be created.
type apiField struct {
	name     string
	in       string // where it goes: path, query, header or body
	text     string // what it means
	bounds   string // in words; empty: none
	fallback string // what it means if the field is absent; empty: nothing
	schema   *openapi.Schema
	required bool
}

// describe returns the schema of the field with its text, bounds and default.
func (f apiField) describe() *openapi.Schema {
	s := *f.schema
	s.Description = f.text
	if f.bounds != "" {
		s.Description += " Bounds: " + f.bounds + "."
	}
	if f.fallback != "" {
		s.Description += " If absent: " + f.fallback + "."
	}
	return &s
}

// offers returns the kinds of push that can be created here with a spelling. Files come
// last, since they need an account.
func (s *Server) offers(how spelling) []kindTerms {
	all := slices.DeleteFunc(kindsOf(s.store.Policy("")), func(t kindTerms) bool { return how.kind != 0 && t.kind != how.kind })
	isFile := func(t kindTerms) bool { return t.kind == record.File }
	if i := slices.IndexFunc(all, isFile); i >= 0 {
		all = append(slices.Delete(slices.Clone(all), i, i+1), all[i])
	}
	return all
}

// usually is the value of an absent field.
func usually(c store.Choice) bool { return c.Enabled && c.Default }

// perKind joins the texts for all kinds. Kinds with the same text share one part.
func perKind(offers []kindTerms, say func(kindTerms) string) string {
	var kinds openapi.Ordered[string] // by their text
	for _, o := range offers {
		names := o.kind.String()
		if same := kinds.Get(say(o)); same != nil {
			names = *same + ", " + names
		}
		kinds.Add(say(o), names)
	}
	if len(kinds) == 1 {
		return kinds[0].Name
	}
	parts := make([]string, len(kinds))
	for i, m := range kinds {
		parts[i] = m.Value + ": " + m.Name
	}
	return strings.Join(parts, "; ")
}

// createFields documents the fields of a push to be created.
func (s *Server) createFields(how spelling) []apiField {
	offers := s.offers(how)
	kinds := &openapi.Schema{Type: openapi.Types{"string"}}
	for _, o := range offers {
		kinds.Enum = append(kinds.Enum, o.kind.String())
	}
	all := []apiField{
		{name: store.FieldPayload, text: "The secret, stored exactly as sent. Required, and not blank, except for a file push. For a url push: an absolute http or https address without user name or password.", bounds: perKind(offers, payloadBounds), schema: textUpTo(store.MaxText)},
		{name: store.FieldKind, text: "What the push carries.", bounds: "one of " + strings.Join(kinds.Enum, ", "), fallback: "file if there are files, else text", schema: kinds},
		{name: store.FieldPassphrase, text: "Required for each retrieval. Blank means none.", bounds: bytesUpTo(store.MaxPassphrase), fallback: "none", schema: textUpTo(store.MaxPassphrase)},
		rangeField(offers, store.FieldDays, "Days until the push expires.", kindTerms.daysRange),
		rangeField(offers, store.FieldViews, "Views until the push expires.", kindTerms.viewsRange),
		{name: store.FieldDuration, text: "A code in place of days: " + durationCodes() + ". Its days, rounded up, have the bounds of expire_after_days. If both are given, expire_after_days counts.", bounds: "0 to " + strconv.Itoa(len(durations)-1), schema: openapi.Number(0, len(durations)-1)},
		flagField(offers, store.FieldRetrievalStep, "Whether the link leads to a page with a button first, so that link previews and scanners use no view.", func(o kindTerms) bool { return usually(o.RetrievalStep) }),
		flagField(offers, store.FieldDeletable, "Whether anyone with the link may delete the push; always false for a url push.", func(o kindTerms) bool { return usually(o.Deletable) }),
		{name: store.FieldName, text: "A name for the sender's own lists.", bounds: bytesUpTo(store.MaxName), fallback: "empty", schema: textUpTo(store.MaxName)},
		{name: store.FieldNote, text: "A note for the sender's own lists.", bounds: bytesUpTo(store.MaxNote), fallback: "empty", schema: textUpTo(store.MaxNote)},
	}
	if s.cfg.Mail.Enabled() {
		all = append(all, s.mailFields()...)
	}
	if s.takesFiles(how) {
		all = append(all, s.filesField(how))
	}
	if how.kind != 0 {
		all = slices.DeleteFunc(all, func(f apiField) bool { return f.name == store.FieldKind })
	}
	for i := range all {
		all[i].in = "body"
	}
	return all
}

// takesFiles reports whether a push can be created with files.
func (s *Server) takesFiles(how spelling) bool {
	return s.store.Policy("").Terms[record.File].Enabled && (!how.v1 || how.kind == record.File)
}

// filesField describes the files of a push in JSON.
func (s *Server) filesField(how spelling) apiField {
	limits := s.store.Policy("").Files
	most := limits.MaxCount
	return apiField{
		name:     store.FieldFiles,
		text:     "Files, which need an API token. They can come along with any kind. In multipart/form-data they are parts named " + how.bracketed(store.FieldFiles) + ", each with a filename; in JSON a list of objects with filename, content_type and content, which is base64.",
		bounds:   "at most " + strconv.Itoa(most) + " files, each at most " + config.Size(limits.MaxSize).String(),
		fallback: "none",
		schema:   &openapi.Schema{Type: openapi.Types{"array"}, MaxItems: &most, Items: openapi.Ref(schemaNewFile)},
	}
}

// rangeField documents a number whose bounds depend on the kind. Its schema has the
// widest bounds. The default is in the text alone: generators of clients take a field
// with a default in its schema for one that is always there.
func rangeField(offers []kindTerms, name, text string, of func(kindTerms) store.Range) apiField {
	least, most := of(offers[0]).Min, of(offers[0]).Max
	for _, o := range offers {
		least, most = min(least, of(o).Min), max(most, of(o).Max)
	}
	return apiField{
		name: name, text: text, schema: openapi.Number(least, most),
		bounds:   perKind(offers, func(o kindTerms) string { return strconv.Itoa(of(o).Min) + " to " + strconv.Itoa(of(o).Max) }),
		fallback: perKind(offers, func(o kindTerms) string { return strconv.Itoa(of(o).Default) }),
	}
}

// flagField documents a yes or no.
func flagField(offers []kindTerms, name, text string, of func(kindTerms) bool) apiField {
	return apiField{
		name: name, text: text + " In a form the words true, on, yes, checked and 1 mean true, any other value false.",
		fallback: perKind(offers, func(o kindTerms) string { return strconv.FormatBool(of(o)) }),
		schema:   &openapi.Schema{Type: openapi.Types{"boolean"}},
	}
}

func payloadBounds(o kindTerms) string {
	if o.kind == record.QR {
		return "at most " + strconv.Itoa(store.MaxQR) + " characters"
	}
	return bytesUpTo(store.MaxText)
}

func bytesUpTo(n int) string {
	if n < 1024 {
		return "at most " + strconv.Itoa(n) + " bytes"
	}
	return "at most " + config.Size(n).String()
}

// textUpTo is the schema of a text of at most n bytes. JSON Schema counts characters,
// and a text has no more of them than bytes.
func textUpTo(n int) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"string"}, MaxLength: n}
}

// durationCodes explains the codes of expire_after_duration.
func durationCodes() string {
	var codes []string
	for code, d := range durations {
		n, unit := int(d/time.Minute), "min"
		switch {
		case d >= day:
			n, unit = int(d/day), "d"
		case d >= time.Hour:
			n, unit = int(d/time.Hour), "h"
		}
		codes = append(codes, strconv.Itoa(code)+" = "+strconv.Itoa(n)+" "+unit)
	}
	return strings.Join(codes, ", ")
}
