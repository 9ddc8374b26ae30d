package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// readAPI returns the data of a version of the API on this server. Its links begin with
// documentedBase.
func (s *Service) readAPI(v1 bool) (*openapi.API, error) {
	text, created := s.offers(intake.PushV2)[0], time.Date(2026, 11, 21, 11, 39, 25, 834_000_000, time.UTC)
	values := map[string]any{
		"base": documentedBase, "v1": v1, "api_version": apiVersion, "release": s.Release, "edition": s.Config.Compat.Edition, "commercial": s.Config.Compat.Commercial(), "features": s.features(),
		"page_size": store.PageSize, "max_page": action.MaxPage, "max_entries": store.MaxMinorEntries,
		"max_text": store.MaxText, "max_passphrase": byteLimit(store.MaxPassphrase), "max_name": byteLimit(store.MaxName),
		"max_note": byteLimit(store.MaxNote), "min_key": intake.MinKey, "max_key": intake.MaxKey, "max_networks": clientip.MaxNetworks, "max_search": byteLimit(manage.MaxSearch), "max_asked": record.MaxAsked,
		"acts": actNames(), "events": words(record.AdminKind.String), "entries": words(record.EntryKind.String), "kinds": words(record.Kind.String),
		"durations": durationCodes(), "codes": numberText{Max: len(intake.Durations) - 1, Bounds: "0 to " + strconv.Itoa(len(intake.Durations)-1)},
		"mail": s.Config.Mail.Enabled(), "max_recipients": s.Config.Mail.MaxRecipients, "languages": lang.Tags(), "language": s.Config.DefaultLocale,
		"max_files": s.Store.Policy("").Files.MaxCount, "max_file_size": config.Size(s.Store.Policy("").Files.MaxSize),
		"anonymous_file_size": s.anonymousFileSize(),
		"pushes":              s.newPushes(v1),
		"answers":             newNumberText(store.Range{Min: 1, Max: record.MaxAnswers, Default: 1}), "answer_kinds": []string{intake.TextsOnly, intake.FilesOnly, intake.TextsAndFiles},
		"request_days": newNumberText(store.RequestDays), "requests": s.newRequests(), "responses": newPush{bodyForm: bodyForm{Wrapper: requestWrapper, Name: "NewResponse", Media: body.TypeJSON}, kinds: s.offers(intake.PushV2), Files: true}.Bodies(), "accounts": formsOf(accountWrapper, "NewAccount"),

		// of the push in examples
		"days": text.Days.Default, "expires_at": display.Stamp(created.Add(time.Duration(text.Days.Default) * intake.Day)),
		"views": text.Views.Default, "views_after_one": text.Views.Default - 1,
		"retrieval_step": usually(text.RetrievalStep), "deletable": usually(text.Deletable),
	}
	if v1 {
		values["api_version"] = apiVersion1
	}
	return openapi.Read(values)
}

// anonymousFileSize returns the greatest size of a file without an API token in words; empty: it needs one.
func (s *Service) anonymousFileSize() string {
	if most := s.Config.Files.AnonymousMaxSize; most != 0 && s.Config.AllowAnonymous {
		return min(most, config.Size(s.Store.Policy("").Files.MaxSize)).String()
	}
	return ""
}

// A byteLimit is the most bytes that a text may have.
type byteLimit int

// UpTo returns it in words.
func (n byteLimit) UpTo() string {
	if n < 1024 {
		return "at most " + strconv.Itoa(int(n)) + " bytes"
	}
	return "at most " + config.Size(n).String()
}

// A numberText describes a number: its bounds, also in words, and its default.
type numberText struct {
	Min, Max       int
	Bounds, Absent string
}

func newNumberText(r store.Range) numberText {
	return numberText{Min: r.Min, Max: r.Max, Bounds: boundsText(r), Absent: strconv.Itoa(r.Default)}
}

func boundsText(r store.Range) string { return strconv.Itoa(r.Min) + " to " + strconv.Itoa(r.Max) }

// A bodyForm is the body of a request in one of its media types.
type bodyForm struct {
	Wrapper string // the object that has the fields
	Name    string // of the schema, without the form
	Form    string // suffix of the schema's name; empty: JSON
	Media   string
}

// Schema is the name of the schema of the fields.
func (f bodyForm) Schema() string { return f.Name + f.Form }

// N is the name of a field in that form, in quotes.
func (f bodyForm) N(field string) string {
	switch {
	case f.Form == "":
	case field == store.FieldFiles:
		field = f.Wrapper + "[" + field + "][]"
	default:
		field = f.Wrapper + "[" + field + "]"
	}
	return strconv.Quote(field)
}

// formsOf are the forms of a body whose fields are texts.
func formsOf(wrapper, name string) []bodyForm {
	return []bodyForm{{Wrapper: wrapper, Name: name, Media: body.TypeJSON}, {Wrapper: wrapper, Name: name, Form: "Form", Media: body.TypeForm}}
}

// A newPush documents the body of a new push in one of its forms.
type newPush struct {
	bodyForm
	kinds   []intake.KindTerms // kinds that it may have in any form
	offers  []intake.KindTerms // kinds that come in this form
	OneKind bool               // then the push needs no kind field
	Files   bool               // whether it may have files
}

// newPushSchemas are the names of the schemas of a new push, by the object that has its
// fields.
var newPushSchemas = map[string]string{
	intake.PushV2.Wrapper: "NewPush", passwordV1.Wrapper: "NewPassword", filesV1.Wrapper: "NewFilePush", urlV1.Wrapper: "NewURL",
}

// newPushes documents the spellings of a version that this server accepts.
func (s *Service) newPushes(v1 bool) (all []newPush) {
	spellings := []intake.Spelling{intake.PushV2}
	if v1 {
		spellings = []intake.Spelling{passwordV1, filesV1, urlV1}
	}
	for _, how := range spellings {
		if offers := s.offers(how); len(offers) > 0 {
			files := s.Store.Policy("").Terms[record.File].Enabled && (!how.V1 || how.Kind == record.File)
			form := bodyForm{Wrapper: how.Wrapper, Name: newPushSchemas[how.Wrapper], Media: body.TypeJSON}
			all = append(all, newPush{form, offers, offers, how.Kind != 0, files})
		}
	}
	return all
}

// newRequests documents the forms of a new request for secrets; none where requests are
// switched off.
func (s *Service) newRequests() (all []newPush) {
	offers := slices.DeleteFunc(s.offers(intake.PushV2), func(t intake.KindTerms) bool { return t.Kind != record.Text && t.Kind != record.File })
	for _, form := range formsOf(requestWrapper, "NewRequest") {
		all = append(all, newPush{bodyForm: form, kinds: offers})
	}
	return all
}

// Bodies are all forms of the body.
func (p newPush) Bodies() []newPush {
	all := []newPush{p}
	if len(p.kinds) > 1 || p.kinds[0].Kind != record.File { // whose files need parts
		form := p
		form.Form, form.Media, form.Files = "Form", body.TypeForm, false
		form.offers = slices.DeleteFunc(slices.Clone(p.offers), func(o intake.KindTerms) bool { return o.Kind == record.File })
		all = append(all, form)
	}
	p.Form, p.Media = "Multipart", body.TypeMultipart
	return append(all, p)
}

// Kinds are the names of the kinds that it may have in any form.
func (p newPush) Kinds() (names []string) {
	for _, o := range p.kinds {
		names = append(names, o.Kind.String())
	}
	return names
}

// PayloadBounds are the bounds of the payload in words.
func (p newPush) PayloadBounds() string {
	return p.perKind(func(o intake.KindTerms) string {
		if o.Kind == record.QR {
			return "at most " + strconv.Itoa(store.MaxQR) + " characters"
		}
		return byteLimit(store.MaxText).UpTo()
	})
}

// AllDays and AllViews describe numbers whose bounds depend on the kind: they have the
// widest.
func (p newPush) AllDays() numberText { return p.number(intake.KindTerms.DaysRange) }

// AllViews is like AllDays.
func (p newPush) AllViews() numberText { return p.number(intake.KindTerms.ViewsRange) }

func (p newPush) number(of func(intake.KindTerms) store.Range) numberText {
	widest := intake.NewNumberField(p.kinds, of, "")
	return numberText{
		Min: widest.Min, Max: widest.Max,
		Bounds: p.perKind(func(o intake.KindTerms) string { return boundsText(of(o)) }),
		Absent: p.perKind(func(o intake.KindTerms) string { return strconv.Itoa(of(o).Default) }),
	}
}

// RetrievalStep is what an absent retrieval_step means.
func (p newPush) RetrievalStep() string { return p.flag(intake.KindTerms.StepChoice) }

// Deletable is what an absent deletable_by_viewer means.
func (p newPush) Deletable() string { return p.flag(intake.KindTerms.DeleteChoice) }

func (p newPush) flag(of func(intake.KindTerms) store.Choice) string {
	return p.perKind(func(o intake.KindTerms) string { return strconv.FormatBool(usually(of(o))) })
}

// perKind joins the texts for all kinds. Kinds with the same text share one part.
func (p newPush) perKind(say func(intake.KindTerms) string) string {
	var texts, kinds []string
	for _, o := range p.kinds {
		if i := slices.Index(texts, say(o)); i >= 0 {
			kinds[i] += ", " + o.Kind.String()
			continue
		}
		texts, kinds = append(texts, say(o)), append(kinds, o.Kind.String())
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for i := range texts {
		texts[i] = kinds[i] + ": " + texts[i]
	}
	return strings.Join(texts, "; ")
}

// A pushRule has the required fields of a kind of push.
type pushRule struct {
	newPush
	Kind        string
	MaxPayload  int // characters; no text has more of them than bytes
	Days, Views store.Range
}

// Rules has a rule for each kind that comes in that form.
func (p newPush) Rules() (all []pushRule) {
	for _, o := range p.offers {
		r := pushRule{p, o.Kind.String(), store.MaxText, o.Days, o.Views}
		if o.Kind == record.QR {
			r.MaxPayload = store.MaxQR
		}
		all = append(all, r)
	}
	return all
}

// First is the rule of the first kind, which the example has.
func (p newPush) First() pushRule { return p.Rules()[0] }

// offers returns the kinds of push that can be created here with a spelling. Files come
// last, since they need an account.
func (s *Service) offers(how intake.Spelling) []intake.KindTerms {
	all := slices.DeleteFunc(intake.KindsOf(s.Store.Policy("")), func(t intake.KindTerms) bool { return how.Kind != 0 && t.Kind != how.Kind })
	isFile := func(t intake.KindTerms) bool { return t.Kind == record.File }
	if i := slices.IndexFunc(all, isFile); i >= 0 {
		all = append(slices.Delete(slices.Clone(all), i, i+1), all[i])
	}
	return all
}

// usually describes the value of an absent field.
func usually(c store.Choice) bool { return c.Enabled && c.Default }

// durationCodes explains the codes of expire_after_duration.
func durationCodes() string {
	var codes []string
	for code, d := range intake.Durations {
		n, unit := int(d/time.Minute), "min"
		switch {
		case d >= intake.Day:
			n, unit = int(d/intake.Day), "d"
		case d >= time.Hour:
			n, unit = int(d/time.Hour), "h"
		}
		codes = append(codes, strconv.Itoa(code)+" = "+strconv.Itoa(n)+" "+unit)
	}
	return strings.Join(codes, ", ")
}

// actNames are the acts of accounts that the API has a path for.
func actNames() (names []string) {
	for _, act := range manage.AccountActs {
		if !act.Typed {
			names = append(names, act.Name)
		}
	}
	return names
}

// words returns the names of an enumeration of the store, which begins with 1.
func words[K ~uint8](name func(K) string) (all []string) {
	for k := K(1); name(k) != ""; k++ {
		all = append(all, name(k))
	}
	return all
}
