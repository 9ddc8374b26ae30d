package intake

import (
	"math"
	"time"

	"pushbox/store"
	"pushbox/store/record"
)

// Durations are the codes of expire_after_duration, which some clients send
// instead of days.
var Durations = [...]time.Duration{
	0: 15 * time.Minute, 1: 30 * time.Minute, 2: 45 * time.Minute,
	3: time.Hour, 4: 6 * time.Hour, 5: 12 * time.Hour,
	6: Day, 7: 2 * Day, 8: 3 * Day, 9: 4 * Day, 10: 5 * Day, 11: 6 * Day,
	12: 7 * Day, 13: 14 * Day, 14: 21 * Day,
	15: 30 * Day, 16: 60 * Day, 17: 90 * Day,
}

// Day is a day of a push.
const Day = 24 * time.Hour

// UnitField is the field of forms with the unit of the number of days.
const UnitField = "expire_after_unit"

// units are the values of UnitField other than days.
var units = map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour}

// inUnit converts the days of a push to a time in the unit that the sender chose.
func inUnit(p *store.NewPush, name string) {
	unit, other := units[name]
	if !other || p.Days == nil || *p.Days == 0 {
		return
	}
	p.Lifetime = time.Duration(min(*p.Days, int(math.MaxInt64/2/unit))) * unit
	p.Days = nil
}

// KindTerms are a kind of push and its terms.
type KindTerms struct {
	Kind record.Kind
	store.Terms
}

// KindsOf lists the kinds that a policy allows, in the order of the form.
func KindsOf(p store.Policy) (all []KindTerms) {
	for _, k := range record.Kinds() {
		if t := p.Terms[k]; t.Enabled {
			all = append(all, KindTerms{k, t})
		}
	}
	return all
}

// These functions select one of the terms, for newNumberField or newCheckbox.

// DaysRange is the range of the days until such a push ends.
func (t KindTerms) DaysRange() store.Range { return t.Days }

// ViewsRange is the range of the views until such a push ends.
func (t KindTerms) ViewsRange() store.Range { return t.Views }

// StepChoice says whether such a push may have a step before it.
func (t KindTerms) StepChoice() store.Choice { return t.RetrievalStep }

// DeleteChoice says whether viewers may delete such a push.
func (t KindTerms) DeleteChoice() store.Choice { return t.Deletable }

// A NumberField is a number within bounds, which may differ by kind.
type NumberField struct {
	Value    string // as it was typed
	Min, Max int    // of all kinds
}

// NewNumberField returns the field with the widest bounds of the kinds.
func NewNumberField(all []KindTerms, of func(KindTerms) store.Range, value string) NumberField {
	d := NumberField{Value: value, Min: of(all[0]).Min, Max: of(all[0]).Max}
	for _, t := range all {
		r := of(t)
		d.Min, d.Max = min(d.Min, r.Min), max(d.Max, r.Max)
	}
	return d
}
