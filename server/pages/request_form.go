package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
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

	Unconfirmed bool // the address of the account is not confirmed: the page says so instead of the form
	problemsView
}

// usualAnswers is how many answers the form suggests.
const usualAnswers = "1"

// A kindsChoice is a choice of the kinds of answers.
type kindsChoice struct {
	Value  string // of the field kinds
	Name   string // of a message, ask_kinds_...
	Chosen bool
}

// MostAnswers is how many answers a request may take.
func (requestFormView) MostAnswers() int { return record.MaxAnswers }

// requestForm shows the form for a new request.
func (s *Set) requestForm(r *action.Request) (action.Reply, error) {
	p, err := s.Store.PolicyOf(r.Context(), r.Actor)
	if err != nil {
		return action.Reply{}, err
	}
	v := s.newRequestForm(p, codeOf(store.RequestDays.Default), codeWithin(answerKinds(p)), "")
	v.Answers, v.Unconfirmed = usualAnswers, r.Session.Unconfirmed
	return action.Show(http.StatusOK, "ask", v), nil
}

// answerKinds lists the kinds that an answer can have.
func answerKinds(p store.Policy) (all []intake.KindTerms) {
	for _, t := range intake.KindsOf(p) {
		if t.Kind == record.Text || t.Kind == record.File {
			all = append(all, t)
		}
	}
	return all
}

// codeWithin returns the code of the longest time limit that is no longer than the default
// of the first kind.
func codeWithin(kinds []intake.KindTerms) (code string) {
	for i, d := range intake.Durations {
		if len(kinds) > 0 && d <= time.Duration(kinds[0].Days.Default)*intake.Day {
			code = strconv.Itoa(i)
		}
	}
	return code
}

// newRequestForm returns the form with chosen times and kinds.
func (s *Set) newRequestForm(p store.Policy, time, keep, chosen string) requestFormView {
	kinds := answerKinds(p)
	v := requestFormView{Times: newTimes(nil, intake.NumberField{Min: store.RequestDays.Min, Max: store.RequestDays.Max}, time), Encryption: s.Intake.EncryptionFor(p)}
	v.Encrypts = v.Encryption != "offered"
	if len(kinds) > 0 {
		v.Keeps = newTimes(kinds, intake.NewNumberField(kinds, intake.KindTerms.DaysRange, ""), keep)
	}
	if len(kinds) > 1 {
		v.Kinds = []kindsChoice{{intake.TextsAndFiles, "both", chosen == intake.TextsAndFiles}}
	}
	for _, t := range kinds {
		name := t.Kind.String()
		v.Kinds = append(v.Kinds, kindsChoice{name, name, chosen == name})
	}
	return v
}

// makeRequest makes a request for secrets.
func (s *Set) makeRequest(r *action.Request, form webForm) (action.Reply, error) {
	f := intake.Fields(form.Form)
	q, err := s.requestOf(r, f)
	if err == nil {
		return action.GoTo(requestPath(q.ID)), nil
	}
	p, policyErr := s.Store.PolicyOf(r.Context(), r.Actor)
	if policyErr != nil {
		return action.Reply{}, policyErr
	}
	text := f[store.FieldText].Text
	v := s.newRequestForm(p, f.Text(store.FieldDuration), f.Text(store.FieldAnswerDuration), f.Text(store.FieldKinds))
	v.Text = secret.New(shownAgain(text.Reveal(), 4*record.MaxAsked)) // a character has at most 4 bytes
	v.Answers = shownAgain(f.Text(store.FieldMaxAnswers), maxNumber)
	v.Encrypts = v.Encryption == "required" || f.Text(store.FieldP256) != ""
	if v.Unconfirmed = errors.Is(err, record.ErrUnconfirmed); v.Unconfirmed { // the page says so
		return action.Show(http.StatusForbidden, "ask", v), nil
	}
	if v.Problems = requestProblems(err, text); v.Problems == nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusUnprocessableEntity, "ask", v), nil
}

// requestOf makes the request that the form asks for.
func (s *Set) requestOf(r *action.Request, f intake.Fields) (store.RequestInfo, error) {
	changeField(f, store.FieldText, oneBreak)
	if ofAnother(r, f) {
		return store.RequestInfo{}, &record.InvalidError{Fields: map[string][]string{otherField: {"is signed in"}}}
	}
	if s.Config.ClientEncryption == "off" {
		delete(f, store.FieldP256)
		delete(f, store.FieldX25519)
	}
	in, err := f.ParseRequest(true)
	if err != nil {
		return store.RequestInfo{}, err
	}
	return s.Intake.NewRequestOf(r, in)
}

// requestProblems lists the problems of a request, in the order of the form; nil for any other
// error.
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
		{otherField, formProblem{Key: "create_bad_other"}},
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
