package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// kindTerms are a kind of push and its terms.
type kindTerms struct {
	kind record.Kind
	store.Terms
}

// kindsOf lists the kinds that a policy allows, in the order of the form.
func kindsOf(p store.Policy) (all []kindTerms) {
	for _, k := range record.Kinds() {
		if t := p.Terms[k]; t.Enabled {
			all = append(all, kindTerms{k, t})
		}
	}
	return all
}

// named returns the kind of that name; the first one if it is not among them.
func named(all []kindTerms, name string) kindTerms {
	return all[max(0, slices.IndexFunc(all, func(t kindTerms) bool { return t.kind.String() == name }))]
}

// Each of these selects one of the terms, for newNumberField or newCheckbox.

func (t kindTerms) daysRange() store.Range { return t.Days }

func (t kindTerms) viewsRange() store.Range { return t.Views }

func (t kindTerms) stepChoice() store.Choice { return t.RetrievalStep }

func (t kindTerms) deleteChoice() store.Choice { return t.Deletable }

// A numberField is a number within bounds, which may differ by kind.
type numberField struct {
	Value    string // as it was typed
	Min, Max int    // of all kinds
}

func newNumberField(all []kindTerms, of func(kindTerms) store.Range, value string) numberField {
	d := numberField{Value: value, Min: of(all[0]).Min, Max: of(all[0]).Max}
	for _, t := range all {
		r := of(t)
		d.Min, d.Max = min(d.Min, r.Min), max(d.Max, r.Max)
	}
	return d
}

// A checkbox is a choice of yes or no that some kinds have.
type checkbox struct {
	Kinds string // as the names of classes; empty: none
	On    bool
}

func newCheckbox(all []kindTerms, of func(kindTerms) store.Choice, on bool) checkbox {
	var names []string
	for _, t := range all {
		if of(t).Enabled {
			names = append(names, t.kind.String())
		}
	}
	return checkbox{strings.Join(names, " "), on}
}

// A timeChoice is a time limit to choose from.
type timeChoice struct {
	Code   string // of expire_after_duration
	Key    string // of its message
	Count  int    // of minutes, hours or days
	Days   int    // rounded up; the bounds of days hold for it
	Chosen bool
}

// newTimes lists usual time limits and the default of each kind, as far as at least one kind
// allows them.
func newTimes(all []kindTerms, days numberField, chosen string) (times []timeChoice) {
	listed := []string{"0", "3", "6", "12", "15", "17", chosen}
	for _, t := range all {
		listed = append(listed, codeOf(t.Days.Default))
	}
	for code, d := range durations {
		if !slices.Contains(listed, strconv.Itoa(code)) {
			continue
		}
		c := timeChoice{Code: strconv.Itoa(code), Days: int((d + day - 1) / day)}
		switch {
		case d < time.Hour:
			c.Key, c.Count = "create_minutes", int(d/time.Minute)
		case d < day:
			c.Key, c.Count = "create_hours", int(d/time.Hour)
		default:
			c.Key, c.Count = "create_days_count", int(d/day)
		}
		if c.Chosen = c.Code == chosen; c.Days >= days.Min && c.Days <= days.Max {
			times = append(times, c)
		}
	}
	return times
}

// codeOf returns the code of that many days; empty if they have none.
func codeOf(days int) string {
	code := slices.Index(durations[:], time.Duration(days)*day)
	if code < 0 {
		return ""
	}
	return strconv.Itoa(code)
}

// IDs of the fields for mail on the page.
const (
	mailID         = "mail-to"
	mailLanguageID = "mail-language"
)

// A mailForm is the part of the form that asks to send the link by mail.
type mailForm struct {
	To        secret.Text
	Max       int // addresses
	Language  string
	Languages []lang.Language

	Unconfirmed bool // the address of the account is not: a link to its page is in place of the fields
}

// newMailForm returns that part with these fields filled in; nil if it is not offered.
func (s *Server) newMailForm(r *action.Request, p store.Policy, f fields) *mailForm {
	if !s.cfg.Mail.Enabled() || p.NoMail || r.Actor.Account == 0 {
		return nil
	}
	m := &mailForm{
		To: f[store.FieldMailTo].Text, Max: s.cfg.Mail.MaxRecipients,
		Language: f.text(store.FieldMailLanguage), Languages: lang.Languages(), Unconfirmed: r.Session.Unconfirmed,
	}
	if !s.words.Speaks(m.Language) {
		m.Language = r.Locale.Tag
	}
	return m
}

// maxMailBytes is the length in bytes of the longest list of addresses that is shown
// again.
func (s *Server) maxMailBytes() int { return s.cfg.Mail.MaxRecipients * (record.MaxEmail + len(", ")) }
