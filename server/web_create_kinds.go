package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// kindTerms are what may be asked for with one kind of push.
type kindTerms struct {
	kind store.Kind
	config.Terms
	deletable, deletableDefault bool
}

// kinds lists the kinds that are switched on, in the order of the form.
func (s *Server) kinds() []kindTerms {
	c := &s.cfg
	of := func(k store.Kind, t config.DeletableTerms) kindTerms {
		return kindTerms{k, t.Terms, t.EnableDeletablePushes, t.DeletablePushesDefault}
	}
	all := []kindTerms{of(store.Text, c.PW)}
	if c.EnableFilePushes {
		all = append(all, of(store.File, c.Files.DeletableTerms))
	}
	if c.EnableURLPushes {
		all = append(all, kindTerms{kind: store.URL, Terms: c.URL})
	}
	if c.EnableQRPushes {
		all = append(all, of(store.QR, c.QR))
	}
	return all
}

func (t kindTerms) days() store.Range {
	return store.Range{Default: t.ExpireAfterDaysDefault, Min: t.ExpireAfterDaysMin, Max: t.ExpireAfterDaysMax}
}

func (t kindTerms) views() store.Range {
	return store.Range{Default: t.ExpireAfterViewsDefault, Min: t.ExpireAfterViewsMin, Max: t.ExpireAfterViewsMax}
}

func (t kindTerms) step() store.Choice {
	return store.Choice{Enabled: t.EnableRetrievalStep, Default: t.RetrievalStepDefault}
}

func (t kindTerms) delete() store.Choice {
	return store.Choice{Enabled: t.deletable, Default: t.deletableDefault}
}

// A dial is a number that is chosen within bounds, which may differ by kind.
type dial struct {
	Value    string // as it was typed
	Min, Max int    // of all kinds
	Bounds   []bound
}

// A bound is the bounds of some kinds, as the names of classes.
type bound struct {
	Kinds    string
	Min, Max int
}

func newDial(all []kindTerms, of func(kindTerms) store.Range, value string) dial {
	d := dial{Value: value, Min: of(all[0]).Min, Max: of(all[0]).Max}
	for _, t := range all {
		r := of(t)
		d.Min, d.Max = min(d.Min, r.Min), max(d.Max, r.Max)
		same := slices.IndexFunc(d.Bounds, func(b bound) bool { return b.Min == r.Min && b.Max == r.Max })
		if same < 0 {
			d.Bounds = append(d.Bounds, bound{t.kind.String(), r.Min, r.Max})
		} else {
			d.Bounds[same].Kinds += " " + t.kind.String()
		}
	}
	return d
}

// A toggle is a yes or no that some kinds have.
type toggle struct {
	Kinds string // as the names of classes; empty: none
	On    bool
}

func newToggle(all []kindTerms, of func(kindTerms) store.Choice, on bool) toggle {
	var names []string
	for _, t := range all {
		if of(t).Enabled {
			names = append(names, t.kind.String())
		}
	}
	return toggle{strings.Join(names, " "), on}
}

// A timeChoice is a time limit other than a typed number of days.
type timeChoice struct {
	Code   string // of expire_after_duration
	Key    string // of its message
	Count  int    // of minutes, hours or days
	Days   int    // rounded up, by which it is bounded
	Chosen bool
}

// newTimes lists the time limits that one kind at least allows.
func newTimes(days dial, chosen string) (times []timeChoice) {
	for code, d := range durations {
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
