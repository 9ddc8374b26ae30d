package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// A requestFormView is the form for a new request.
type requestFormView struct {
	Text       secret.Text
	Times      []timeChoice
	Answers    string // as it was typed
	Kinds      []kindsChoice
	Keeps      []timeChoice
	Encryption string // in the sender's browser: a value of client_encryption
	Encrypts   bool   // whether answers are encrypted there, as it is chosen

	Unconfirmed bool // the address of the account is not: the page says so in place of the form
	problemsView
}

// usualAnswers is how many answers the form suggests.
const usualAnswers = "1"

// A kindsChoice is what answers can be.
type kindsChoice struct {
	Value  string // of the field kinds
	Name   string // of a message, ask_kinds_...
	Chosen bool
}

// MostAnswers is how many answers a request may take.
func (requestFormView) MostAnswers() int { return record.MaxAnswers }

// requestForm shows the form for a new request.
func (s *Server) requestForm(r *action.Request) (action.Reply, error) {
	p, err := s.store.PolicyOf(r.Context(), r.Actor)
	if err != nil {
		return action.Reply{}, err
	}
	v := s.newRequestForm(p, codeOf(store.RequestDays.Default), codeWithin(answerKinds(p)), "")
	v.Answers, v.Unconfirmed = usualAnswers, r.Session.Unconfirmed
	return action.Show(http.StatusOK, "ask", v), nil
}

// answerKinds lists the kinds that an answer can have.
func answerKinds(p store.Policy) (all []kindTerms) {
	for _, t := range kindsOf(p) {
		if t.kind == record.Text || t.kind == record.File {
			all = append(all, t)
		}
	}
	return all
}

// codeWithin returns the code of the longest time limit that is no longer than the default
// of the first kind.
func codeWithin(kinds []kindTerms) (code string) {
	for i, d := range durations {
		if len(kinds) > 0 && d <= time.Duration(kinds[0].Days.Default)*day {
			code = strconv.Itoa(i)
		}
	}
	return code
}

// newRequestForm returns the form with these times and kinds chosen.
func (s *Server) newRequestForm(p store.Policy, time, keep, chosen string) requestFormView {
	kinds := answerKinds(p)
	v := requestFormView{Times: newTimes(nil, numberField{Min: store.RequestDays.Min, Max: store.RequestDays.Max}, time), Encryption: s.encryptionFor(p)}
	v.Encrypts = v.Encryption != "offered"
	if len(kinds) > 0 {
		v.Keeps = newTimes(kinds, newNumberField(kinds, kindTerms.daysRange, ""), keep)
	}
	if len(kinds) > 1 {
		v.Kinds = []kindsChoice{{textsAndFiles, "both", chosen == textsAndFiles}}
	}
	for _, t := range kinds {
		name := t.kind.String()
		v.Kinds = append(v.Kinds, kindsChoice{name, name, chosen == name})
	}
	return v
}

// makeRequest makes a request for secrets.
func (s *Server) makeRequest(r *action.Request, form webForm) (action.Reply, error) {
	f := fields(form.Form)
	q, err := s.requestOf(r, f)
	if err == nil {
		return action.GoTo(requestPath(q.ID)), nil
	}
	p, policyErr := s.store.PolicyOf(r.Context(), r.Actor)
	if policyErr != nil {
		return action.Reply{}, policyErr
	}
	text := f[store.FieldText].Text
	v := s.newRequestForm(p, f.text(store.FieldDuration), f.text(store.FieldAnswerDuration), f.text(store.FieldKinds))
	v.Text = secret.New(shownAgain(text.Reveal(), 4*record.MaxAsked)) // a character has at most 4 bytes
	v.Answers = shownAgain(f.text(store.FieldMaxAnswers), maxNumber)
	v.Encrypts = v.Encryption == "required" || f.text(store.FieldP256) != ""
	if v.Unconfirmed = errors.Is(err, record.ErrUnconfirmed); v.Unconfirmed { // the page says so
		return action.Show(http.StatusForbidden, "ask", v), nil
	}
	if v.Problems = requestProblems(err, text); v.Problems == nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusUnprocessableEntity, "ask", v), nil
}

// requestOf makes the request that the form asks for.
func (s *Server) requestOf(r *action.Request, f fields) (store.RequestInfo, error) {
	f.change(store.FieldText, oneBreak)
	if s.cfg.ClientEncryption == "off" {
		delete(f, store.FieldP256)
		delete(f, store.FieldX25519)
	}
	in, err := f.parseRequest(true)
	if err != nil {
		return store.RequestInfo{}, err
	}
	return s.newRequestOf(r, in)
}

// requestProblems lists what is wrong with a request, in the order of the form; nil if err
// is about something else.
func requestProblems(err error, text secret.Text) (all []formProblem) {
	if errors.Is(err, record.ErrRequests) {
		return []formProblem{{Field: "text", Key: "ask_bad_many", Max: strconv.Itoa(record.MaxRequests)}}
	}
	wrong, _ := wrongFields(err)
	about := formProblem{Field: "text", Key: "ask_bad_long", Max: strconv.Itoa(record.MaxAsked)}
	if strings.TrimSpace(text.Reveal()) == "" {
		about.Key = "ask_bad_text"
	}
	for _, row := range [...]struct {
		name string // in the *record.InvalidError
		formProblem
	}{
		{store.FieldText, about},
		{store.FieldDuration, formProblem{Field: "time", Key: "ask_bad_choice"}},
		{store.FieldMaxAnswers, between("answers", "ask_bad_answers", store.Range{Min: 1, Max: record.MaxAnswers})},
		{store.FieldX25519, formProblem{Field: "encrypt", Key: "create_encrypt_required"}},
		{store.FieldP256, formProblem{Field: "encrypt", Key: "create_encrypt_required"}},
		{store.FieldKinds, formProblem{Field: "kinds", Key: "create_bad_kind"}},
		{store.FieldAnswerDuration, formProblem{Field: "keep", Key: "ask_bad_choice"}},
	} {
		if wrong[row.name] {
			all = append(all, row.formProblem)
		}
	}
	return all
}

// Unfold reports whether the folded options hold a problem.
func (v requestFormView) Unfold() bool {
	return v.Problem("kinds") != nil || v.Problem("keep") != nil || v.Problem("encrypt") != nil
}
