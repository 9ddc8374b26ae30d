package store

import (
	"slices"
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

func TestEachChangeOfAPushIsTheEventsThatItIs(t *testing.T) {
	t.Parallel()
	at := clock.Instant{Now: newYear, Denies: newYear, Ends: newYear}
	live := record.Push{ID: record.ID{1}, Kind: record.Text, State: record.Live, Owner: 7, ViewLimit: 2, ExpiresAt: newYear.Add(time.Hour), DeletableByViewer: true, Seq: 1}
	with := func(change func(*record.Push)) record.Push { p := live; change(&p); return p }
	late := with(func(p *record.Push) { p.ExpiresAt = newYear.Add(-time.Minute) })
	anonymous, owner := Actor{}, Actor{Account: 7}
	for name, c := range map[string]struct {
		push record.Push
		rule record.Rule
		want []string
	}{
		"a view":                     {live, retrieveRule(anonymous, at, nil, nil), []string{"view"}},
		"the last view":              {with(func(p *record.Push) { p.Views = 1 }), retrieveRule(anonymous, at, nil, nil), []string{"view", "last_view", "expire views"}},
		"the owner's look":           {live, retrieveRule(owner, at, nil, nil), nil},
		"a look at one that expired": {with(func(p *record.Push) { p.State = record.Expired }), retrieveRule(anonymous, at, nil, nil), nil},
		"a look that comes too late": {late, retrieveRule(anonymous, at, nil, nil), []string{"expire time"}},
		"a wrong passphrase":         {live, wrongPassphraseRule(at, nil, 3), []string{"failed_passphrase"}},
		"one that freezes":           {with(func(p *record.Push) { p.Owner, p.Failed = owner.Account, 2 }), wrongPassphraseRule(at, nil, 3), []string{"failed_passphrase", "freeze"}},
		"one more then":              {with(func(p *record.Push) { p.Owner, p.Failed, p.Frozen = owner.Account, 3, true }), wrongPassphraseRule(at, nil, 3), []string{"failed_passphrase"}},
		"one that freezes, no owner": {with(func(p *record.Push) { p.Owner, p.Failed = 0, 2 }), wrongPassphraseRule(at, nil, 3), []string{"failed_passphrase", "freeze"}},
		"a thaw":                     {with(func(p *record.Push) { p.Owner, p.Frozen = owner.Account, true }), thawRule(owner, at, nil), nil},
		"one too late":               {late, wrongPassphraseRule(at, nil, 3), []string{"expire time"}},
		"one too many for the log":   {with(func(p *record.Push) { p.Minor = MaxMinorEntries }), wrongPassphraseRule(at, nil, 3), nil},
		"a sweep":                    {late, expireRule(at), []string{"expire time"}},
		"a sweep too early":          {live, expireRule(at), nil},
		"a delete":                   {live, deleteRule(anonymous, at, nil), []string{"expire deleted"}},
		"a delete by the owner":      {live, deleteRule(owner, at, nil), []string{"expire deleted"}},
		"a second delete":            {with(func(p *record.Push) { p.State = record.Deleted }), deleteRule(owner, at, nil), nil},
		"a removal of its account": {live, func(p record.Push) (record.Push, record.Entry, error) {
			p.State = record.Purged
			return p, record.Entry{}, nil
		}, nil},
	} {
		next, e, err := c.rule(c.push)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, h := range occurrences(c.push, next, e) {
			text := h.String()
			if h.cause != CauseNone {
				text += " " + h.cause.String()
			}
			got = append(got, text)
			if h.at.IsZero() || h.at.After(newYear) {
				t.Errorf("%s: %s was at %v", name, text, h.at)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s is %q, not %q", name, got, c.want)
		}
	}
}

func TestEventsAreReadByTheirNames(t *testing.T) {
	t.Parallel()
	set := record.NewEventSet()
	for _, e := range record.Events() {
		got, ok := ParseEvent(e.String())
		if !ok || got != e || set.Has(e) {
			t.Errorf("%v is read as %v, %v", e, got, ok)
		}
		set |= record.NewEventSet(e)
		if !set.Has(e) {
			t.Errorf("%v is not in a set with it", e)
		}
	}
	if !slices.Equal(set.Events(), record.Events()) {
		t.Errorf("the set has %v", set.Events())
	}
	for _, name := range []string{"", "test", "View", "views"} {
		if e, ok := ParseEvent(name); ok {
			t.Errorf("%q is read as %v", name, e)
		}
	}
}

func TestANoticeComesBackAsItWas(t *testing.T) {
	t.Parallel()
	want := Notice{ID: NewNoticeID(), Event: record.EventExpire, At: newYear, Push: record.ID{1, 21: 2}, Kind: record.QR, Views: 3, ViewLimit: 4, Cause: CauseHand, IP: "::1", UserAgent: "agent"}
	b := want.encode()
	got, err := decodeNotice(b)
	if err != nil || !got.URLToken.IsZero() || !got.Name.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	if got != want {
		t.Errorf("%+v became %+v", want, got)
	}
	for n := range b {
		if _, err := decodeNotice(b[:n]); err == nil {
			t.Errorf("%d bytes of it are a notice", n)
		}
	}
}
