package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// An apiField is a parameter of a request, or a field of a push to be created.
type apiField struct {
	name     string
	in       string // where it goes: path, query, header or body
	text     string // what it means
	bounds   string // in words; empty: none
	fallback string // what its absence means; empty: nothing
	schema   *specSchema
	required bool
}

// describe returns the schema of the field with all that is said of it.
func (f apiField) describe() *specSchema {
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

// offers are the kinds of push that can be created here, files last: they need an
// account.
func (s *Server) offers() []kindTerms {
	all := s.kinds()
	isFile := func(t kindTerms) bool { return t.kind == store.File }
	if i := slices.IndexFunc(all, isFile); i >= 0 {
		all = append(slices.Delete(slices.Clone(all), i, i+1), all[i])
	}
	return all
}

// usually is what silence means.
func usually(c store.Choice) bool { return c.Enabled && c.Default }

// perKind says something of each kind, of kinds for which it is the same together.
func perKind(offers []kindTerms, say func(kindTerms) string) string {
	var kinds ordered[string] // by what is said of them
	for _, o := range offers {
		names := o.kind.String()
		if same := kinds.get(say(o)); same != nil {
			names = *same + ", " + names
		}
		kinds.add(say(o), names)
	}
	if len(kinds) == 1 {
		return kinds[0].name
	}
	parts := make([]string, len(kinds))
	for i, m := range kinds {
		parts[i] = m.value + ": " + m.name
	}
	return strings.Join(parts, "; ")
}

// createFields are the fields of a push to be created.
func (s *Server) createFields(offers []kindTerms) []apiField {
	kinds := &specSchema{Type: specTypes{"string"}}
	for _, o := range offers {
		kinds.Enum = append(kinds.Enum, o.kind.String())
	}
	all := []apiField{
		{name: "payload", text: "The secret, stored exactly as it is sent. Required, and not blank, unless there are files. Of a url push: an absolute http or https address without user name or password.", bounds: perKind(offers, payloadBounds), schema: textUpTo(store.MaxText)},
		{name: "kind", text: "What the push carries.", bounds: "one of " + strings.Join(kinds.Enum, ", "), fallback: "file if there are files, else text", schema: kinds},
		{name: "passphrase", text: "Asked for at each retrieval. A blank one is none.", bounds: bytesUpTo(store.MaxPassphrase), fallback: "none", schema: textUpTo(store.MaxPassphrase)},
		rangeField(offers, "expire_after_days", "Days until the push expires.", kindTerms.days),
		rangeField(offers, "expire_after_views", "Views until the push expires.", kindTerms.views),
		{name: "expire_after_duration", text: "Instead of days, a code: " + durationCodes() + ". The days that it comes to, rounded up, are bounded as expire_after_days is, which goes before it.", bounds: "0 to " + strconv.Itoa(len(durations)-1), schema: numberSchema(0, len(durations)-1)},
		flagField(offers, "retrieval_step", "Whether the link leads to a page with a button first, so that programs which look at links use up no view.", func(o kindTerms) bool { return usually(o.step()) }),
		flagField(offers, "deletable_by_viewer", "Whether anybody with the link may end the push; never true of a url push.", func(o kindTerms) bool { return usually(o.delete()) }),
		{name: "name", text: "A name for the sender's own lists.", bounds: bytesUpTo(store.MaxName), fallback: "empty", schema: textUpTo(store.MaxName)},
		{name: "note", text: "A note for the sender's own lists.", bounds: bytesUpTo(store.MaxNote), fallback: "empty", schema: textUpTo(store.MaxNote)},
	}
	if s.cfg.Mail.Enabled() {
		all = append(all, s.mailFields()...)
	}
	if s.cfg.EnableFilePushes {
		all = append(all, s.filesField())
	}
	for i := range all {
		all[i].in = "body"
	}
	return all
}

// filesField are the files of a push in JSON.
func (s *Server) filesField() apiField {
	most := s.cfg.Files.MaxFileUploads
	return apiField{
		name:     filesField,
		text:     "Files, which need an API token. In multipart/form-data they are parts named push[files][], each with a filename; in JSON a list of objects with filename, content_type and content, which is base64.",
		bounds:   "at most " + strconv.Itoa(most) + " files, each at most " + s.cfg.Files.MaxFileSize.String(),
		fallback: "none",
		schema:   &specSchema{Type: specTypes{"array"}, MaxItems: &most, Items: schemaNamed(specNewFile)},
	}
}

// rangeField is a number whose bounds the kinds have. Its schema has the widest.
func rangeField(offers []kindTerms, name, text string, of func(kindTerms) store.Range) apiField {
	first := of(offers[0])
	least, most := first.Min, first.Max
	var fallback any = first.Default
	for _, o := range offers {
		r := of(o)
		least, most = min(least, r.Min), max(most, r.Max)
		if r.Default != first.Default {
			fallback = nil
		}
	}
	s := numberSchema(least, most)
	s.Default = fallback
	return apiField{
		name: name, text: text, schema: s,
		bounds:   perKind(offers, func(o kindTerms) string { return strconv.Itoa(of(o).Min) + " to " + strconv.Itoa(of(o).Max) }),
		fallback: perKind(offers, func(o kindTerms) string { return strconv.Itoa(of(o).Default) }),
	}
}

// flagField is a yes or no.
func flagField(offers []kindTerms, name, text string, of func(kindTerms) bool) apiField {
	s := &specSchema{Type: specTypes{"boolean", "string", "integer"}}
	fallback := perKind(offers, func(o kindTerms) string { return boolWord(of(o)) })
	if fallback == boolWord(of(offers[0])) {
		s.Default = of(offers[0])
	}
	return apiField{
		name: name, text: text + " The words true, on, yes, checked and 1 mean true, any other value false.",
		fallback: fallback, schema: s,
	}
}

func payloadBounds(o kindTerms) string {
	if o.kind == store.QR {
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

// textUpTo is a text of so many bytes. JSON Schema counts characters, of which
// there are no more than bytes.
func textUpTo(n int) *specSchema { return &specSchema{Type: specTypes{"string"}, MaxLength: n} }

// durationCodes says what the codes of expire_after_duration mean.
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
