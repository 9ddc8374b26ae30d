package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/clientip"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
)

// encryptedOption is the option of the form's address that turns encryption in the browser on.
const encryptedOption = "client_encrypted"

// formPath returns the path of the form for a new push with the options of this one: nothing that is secret, neither its
// text nor its passphrase.
func formPath(p store.PushInfo) string {
	q := url.Values{
		kindName:                 {p.Kind.String()},
		store.FieldViews:         {strconv.Itoa(p.ViewLimit)},
		store.FieldRetrievalStep: {flagText(p.RetrievalStep)},
		store.FieldDeletable:     {flagText(p.DeletableByViewer)},
	}
	code := func(d time.Duration) int { return slices.Index(intake.Durations[:], d) }
	switch time := p.ExpiresAt.Sub(p.CreatedAt); {
	case code(time) >= 0:
		q.Set(store.FieldDuration, strconv.Itoa(code(time)))
	case p.CloseAfter > 0 && p.Views > 0: // the first view has brought the end forward
	default:
		n, unit := inLargestUnit(time)
		q.Set(store.FieldDays, strconv.Itoa(n))
		q.Set(intake.UnitField, unit)
	}
	if code := code(p.CloseAfter); code >= 0 {
		q.Set(store.FieldCloseAfter, strconv.Itoa(code))
	}
	if p.TypedReveal {
		q.Set(store.FieldReveal, store.RevealType)
	}
	if p.Networks != "" {
		q.Set(store.FieldNetworks, p.Networks)
	}
	if !p.Recipient.IsZero() { // not the address: it would be in the logs of proxies
		q.Set(store.FieldRecipient, "on")
	}
	if p.ClientEncrypted {
		q.Set(encryptedOption, "on")
	}
	return "/?" + q.Encode()
}

// timeUnits are the units of the form, from the largest.
var timeUnits = [...]struct {
	name string
	of   time.Duration
}{{"days", intake.Day}, {"hours", time.Hour}, {"minutes", time.Minute}}

// inLargestUnit returns a time as a number of the largest unit that it is whole in, rounded up to a minute.
func inLargestUnit(d time.Duration) (n int, unit string) {
	d = (d + time.Minute - 1).Truncate(time.Minute)
	for _, u := range timeUnits {
		if d%u.of == 0 {
			return int(d / u.of), u.name
		}
	}
	return 0, "" // minutes are whole
}

// takeOptions sets the fields that the form's address names, as far as the terms of the kind allow them.
func takeOptions(f intake.Fields, q url.Values, t intake.KindTerms) {
	set := func(name, text string, valid bool) {
		if valid {
			f[name] = intake.TextValue(text)
		}
	}
	views := q.Get(store.FieldViews)
	set(store.FieldViews, views, inRange(views, t.Views.Min, t.Views.Max))
	for name, choice := range map[string]store.Choice{store.FieldRetrievalStep: t.RetrievalStep, store.FieldDeletable: t.Deletable} {
		text := q.Get(name)
		set(name, text, choice.Enabled && (text == "on" || text == "off"))
	}
	set(store.FieldReveal, store.RevealType, q.Get(store.FieldReveal) == store.RevealType)

	networks := q.Get(store.FieldNetworks)
	_, err := clientip.ParseNetworks(networks)
	set(store.FieldNetworks, networks, err == nil && len(networks) <= store.MaxNetworks)

	days, unit := q.Get(store.FieldDays), q.Get(intake.UnitField)
	for i, d := range intake.Durations {
		code, whole := strconv.Itoa(i), int((d+intake.Day-1)/intake.Day)
		set(store.FieldCloseAfter, code, code == q.Get(store.FieldCloseAfter) && whole <= t.Days.Max)
		set(store.FieldDuration, code, code == q.Get(store.FieldDuration) && whole >= t.Days.Min && whole <= t.Days.Max)
	}
	for _, u := range timeUnits {
		perDay, least := int(intake.Day/u.of), t.Days.Min
		if perDay > 1 {
			least = 1
		}
		if u.name == unit && inRange(days, least, t.Days.Max*perDay) {
			f[store.FieldDays], f[intake.UnitField], f[store.FieldDuration] = intake.TextValue(days), intake.TextValue(unit), intake.TextValue("")
		}
	}
}

// inRange reports whether a text is a whole number from least to most.
func inRange(text string, least, most int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= least && n <= most
}

// madeCookie is the name of a cookie for the pages of one push. It says that this browser made the push, and goes when the
// browser is closed. It is no right: it only lets the pages say whose mistake an opening would be.
const madeCookie = "made"

func newMadeCookie(r *action.Request, p store.PushInfo) *http.Cookie {
	c := r.NewPathCookie(madeCookie, "1")
	c.Path = r.Entry.BasePath + revealPath(p.Token)
	return c
}

// madeHere reports whether this browser made the push of the page.
func madeHere(r *action.Request) bool {
	_, err := r.PathCookie(madeCookie)
	return err == nil
}
