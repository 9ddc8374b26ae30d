package server

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// schemaNewRequest is the name of the schema of a new request. With JSON or Form behind it,
// it is that of the body.
const schemaNewRequest = "NewRequest"

// errInvalidRequest represents all of its type in the documentation.
var errInvalidRequest = &record.InvalidError{Fields: map[string][]string{store.FieldText: {"is required"}}}

// requestFields documents the fields of a new request; none if requests are switched off.
func (s *Server) requestFields() []apiField {
	if !s.cfg.EnableRequests {
		return nil
	}
	offers := slices.DeleteFunc(s.offers(pushV2), func(t kindTerms) bool { return t.kind != record.Text && t.kind != record.File })
	kinds := []string{textsOnly, filesOnly, textsAndFiles}
	codes, most, days := strconv.Itoa(len(durations)-1), record.MaxAnswers, store.RequestDays
	const key = "A public key of the curve, in base64url without padding. With it, answers must be encrypted by their sender: docs/end-to-end.md."
	all := []apiField{
		{name: store.FieldText, text: "What is asked for, which the person who opens the link sees. Required.", bounds: "at most " + strconv.Itoa(record.MaxAsked) + " characters", schema: &openapi.Schema{Type: openapi.Types{"string"}, MinLength: 1, MaxLength: record.MaxAsked}},
		{name: store.FieldKinds, text: "What answers may be.", bounds: "text, file or text,file", fallback: "all that the server takes", schema: &openapi.Schema{Type: openapi.Types{"string"}, Enum: kinds}},
		{name: store.FieldMaxAnswers, text: "How many answers the request takes.", bounds: "1 to " + strconv.Itoa(most), fallback: "1", schema: openapi.Number(1, most)},
		{name: store.FieldDays, text: "Days until the request ends.", bounds: fmt.Sprintf("%d to %d", days.Min, days.Max), fallback: strconv.Itoa(days.Default), schema: openapi.Number(days.Min, days.Max)},
		{name: store.FieldDuration, text: "A code in place of these days, as for pushes.", bounds: "0 to " + codes, schema: openapi.Number(0, len(durations)-1)},
		rangeField(offers, store.FieldAnswerDays, "Days until an answer expires.", kindTerms.daysRange),
		{name: store.FieldAnswerDuration, text: "A code in place of these days, as for pushes.", bounds: "0 to " + codes, schema: openapi.Number(0, len(durations)-1)},
		rangeField(offers, store.FieldAnswerViews, "Views until an answer expires; those of the account are not counted.", kindTerms.viewsRange),
		flagField(offers, store.FieldAnswerStep, "Whether the links of answers lead to a page with a button first.", func(o kindTerms) bool { return usually(o.RetrievalStep) }),
		{name: store.FieldX25519, text: key + " Only together with a key of P-256, since not every browser has X25519.", bounds: "32 bytes", fallback: "none", schema: openapi.Text()},
		{name: store.FieldP256, text: key, bounds: "65 bytes, an uncompressed point", fallback: "none", schema: openapi.Text()},
	}
	for i := range all {
		all[i].in = "body"
	}
	return all
}

// requestBody documents the body of a new request, in each media type.
func (s *Server) requestBody(schemas *openapi.Ordered[*openapi.Schema]) *openapi.Body {
	how := spelling{wrapper: requestWrapper}
	inForm := how.bracketed
	for _, form := range []bool{false, true} {
		name, named := schemaNewRequest, func(name string) string { return name }
		if form {
			name, named = schemaNewRequest+"Form", inForm
		}
		schema := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{named(store.FieldText)}, Description: "A request for secrets to create. Unknown keys are ignored."}
		for _, f := range s.requestFields() {
			schema.Properties.Add(named(f.name), f.describe())
		}
		schemas.Add(name, schema)
	}
	schemas.Add(schemaNewRequest+"JSON", &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{requestWrapper},
		Properties: openapi.Ordered[*openapi.Schema]{{Name: requestWrapper, Value: openapi.Ref(schemaNewRequest)}},
	})
	var form openapi.Ordered[any]
	for _, m := range exampleRequestFields() {
		form.Add(inForm(m.Name), m.Value)
	}
	media := openapi.Media{Schema: openapi.Ref(schemaNewRequest + "Form"), Example: form}
	return &openapi.Body{Required: true, Content: openapi.Ordered[openapi.Media]{
		{Name: body.TypeJSON, Value: openapi.Media{Schema: openapi.Ref(schemaNewRequest + "JSON"), Example: openapi.Ordered[any]{{Name: requestWrapper, Value: exampleRequestFields()}}}},
		{Name: body.TypeForm, Value: media},
		{Name: body.TypeMultipart, Value: media},
	}}
}

const exampleAsked = "The password of the wireless network"

// exampleRequestFields are the fields of a new request.
func exampleRequestFields() openapi.Ordered[any] {
	return openapi.Ordered[any]{{Name: store.FieldText, Value: exampleAsked}, {Name: store.FieldKinds, Value: textsOnly}, {Name: store.FieldMaxAnswers, Value: 1}}
}

// exampleAsk is a request.
func exampleAsk() store.RequestInfo {
	return store.RequestInfo{
		Request: record.Request{
			ID: record.RequestID{1, 0x9f, 21: 7}, CreatedAt: exampleAt(), ExpiresAt: exampleAt().Add(7 * day), Texts: true, MaxAnswers: 1,
		},
		At: exampleAt(), Text: secret.New(exampleAsked), Token: store.RequestToken{Text: secret.New("buh66o4ikeyqk3w7n2ymm6f4r5cv3xjzta")},
	}
}

func (s *Server) exampleRequest(base string) any { return newRequestJSON(exampleAsk(), base) }

func (s *Server) exampleRequests(base string) any {
	return []requestJSON{newRequestJSON(exampleAsk(), base)}
}

// exampleAnswered is the request an hour later, with an answer, which ended it.
func (s *Server) exampleAnswered(base string) any {
	r, p := exampleAsk(), s.exampleInfo()
	r.At = r.At.Add(time.Hour)
	r.EndedAt, r.Answers, r.Pushes = r.At, []record.ID{{}}, []store.PushInfo{p}
	return newAnsweredJSON(r, base)
}

func (s *Server) exampleRequestEnded(base string) any {
	r := exampleAsk()
	r.At = r.At.Add(time.Hour)
	r.EndedAt = r.At
	return newRequestJSON(r, base)
}
