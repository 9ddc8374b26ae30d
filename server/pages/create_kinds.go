package pages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// kindIcons are the drawings of the kinds, by their names in the form.
var kindIcons = map[string]string{
	record.Text.String(): "text", loginName: "key", record.File.String(): "file", record.URL.String(): "link", record.QR.String(): "qr",
}

// named returns the kind of that name; the first one if it is not among them.
func named(all []intake.KindTerms, name string) intake.KindTerms {
	if name == loginName {
		name = record.Text.String()
	}
	return all[max(0, slices.IndexFunc(all, func(t intake.KindTerms) bool { return t.Kind.String() == name }))]
}

// A checkbox is a yes-or-no choice of some kinds.
type checkbox struct {
	Kinds string // as the names of classes; empty: none
	On    bool
}

func newCheckbox(all []intake.KindTerms, of func(intake.KindTerms) store.Choice, on bool) checkbox {
	var names []string
	for _, t := range all {
		if of(t).Enabled {
			names = append(names, t.Kind.String())
			if t.Kind == record.Text {
				names = append(names, loginName)
			}
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
func newTimes(all []intake.KindTerms, days intake.NumberField, chosen string) (times []timeChoice) {
	listed := []string{"0", "3", "6", "12", "15", "17", chosen}
	for _, t := range all {
		listed = append(listed, codeOf(t.Days.Default))
	}
	for code, d := range intake.Durations {
		if !slices.Contains(listed, strconv.Itoa(code)) {
			continue
		}
		c := timeChoice{Code: strconv.Itoa(code), Days: int((d + intake.Day - 1) / intake.Day)}
		switch {
		case d < time.Hour:
			c.Key, c.Count = "create_minutes", int(d/time.Minute)
		case d < intake.Day:
			c.Key, c.Count = "create_hours", int(d/time.Hour)
		default:
			c.Key, c.Count = "create_days_count", int(d/intake.Day)
		}
		if c.Chosen = c.Code == chosen; c.Days >= days.Min && c.Days <= days.Max {
			times = append(times, c)
		}
	}
	return times
}

// goneText says after how long and how many views the secret is deleted, as the script of the form does for other limits;
// without usual ones, that it is deleted.
func goneText(r *action.Request, p createView) string {
	views, err := strconv.Atoi(p.Views.Value)
	chosen := func(c timeChoice) bool { return c.Chosen }
	i := slices.IndexFunc(p.Times, chosen)
	if err != nil || views < 1 || i < 0 || slices.ContainsFunc(p.Closes, chosen) || slices.ContainsFunc(p.Moments, momentField.ends) {
		return r.Locale.Text("create_gone")
	}
	return r.Locale.Text("create_gone_after", "time", r.Locale.Text(p.Times[i].Key, "count", p.Times[i].Count), "count", views)
}

// closeID is the ID of the field for the time from the first view to the end.
const closeID = "close"

// A momentField is a field of the form for an exact time. Browsers send a time without its zone: the script adds how many
// minutes it is behind UTC on that date, and without scripts the time is in UTC, as the page says.
type momentField struct{ ID, Value string } // the ID is the name of the field, and of its message

// localTime is a time in such a field.
const localTime = "2006-01-02T15:04"

// newMoments returns the fields for exact times with the times that were typed, in their zone.
func newMoments(f intake.Fields) (all []momentField) {
	for _, name := range [...]string{store.FieldOpenFrom, store.FieldExpiresAt} {
		text := f.Text(name)
		if at, ok := readMoment(text); ok {
			text = at.Format(localTime)
		}
		all = append(all, momentField{name, text})
	}
	return all
}

// ends reports whether the field sets the end.
func (m momentField) ends() bool { return m.ID == store.FieldExpiresAt && m.Value != "" }

// readMoments gives the typed times the form that the API takes, and reports whether one is the end.
func readMoments(f intake.Fields) (ends bool) {
	for _, name := range [...]string{store.FieldOpenFrom, store.FieldExpiresAt} {
		if at, ok := readMoment(f.Text(name)); ok {
			f[name] = intake.TextValue(at.Format(time.RFC3339))
		}
	}
	return f.Text(store.FieldExpiresAt) != ""
}

// readMoment returns the time of such a field, in its zone.
func readMoment(text string) (at time.Time, ok bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	local, behind, _ := strings.Cut(text, " ")
	minutes, err := strconv.Atoi(cmp.Or(behind, "0"))
	if err != nil || time.Duration(max(minutes, -minutes))*time.Minute >= intake.Day {
		return time.Time{}, false
	}
	at, err = time.ParseInLocation(localTime, local, time.FixedZone("", -60*minutes))
	return at, err == nil
}

// codeOf returns the code of that many days; empty if they have none.
func codeOf(days int) string {
	code := slices.Index(intake.Durations[:], time.Duration(days)*intake.Day)
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

	Unconfirmed bool // the address of the account is not confirmed: a link to its page replaces the fields
}

// newMailForm returns that part with filled-in fields; nil if it is not offered.
func (s *Set) newMailForm(r *action.Request, p store.Policy, f intake.Fields) *mailForm {
	if !s.Config.Mail.Enabled() || p.NoMail || r.Actor.Account == 0 {
		return nil
	}
	m := &mailForm{
		To: f[store.FieldMailTo].Text, Max: s.Config.Mail.MaxRecipients,
		Language: f.Text(store.FieldMailLanguage), Languages: lang.Languages(), Unconfirmed: r.Session.Unconfirmed,
	}
	if !s.Words.Speaks(m.Language) {
		m.Language = r.Locale.Tag
	}
	return m
}

// maxMailBytes is the length in bytes of the longest list of addresses that is shown
// again.
func (s *Set) maxMailBytes() int { return s.Config.Mail.MaxRecipients * (record.MaxEmail + len(", ")) }
