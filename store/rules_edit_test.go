package store

import (
	"errors"
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

func TestAnEdit(t *testing.T) {
	t.Parallel()
	terms := map[record.Kind]Terms{record.Text: {Days: Range{Default: 7, Min: 2, Max: 90}, Views: Range{Default: 5, Min: 2, Max: 100}}}
	ms := time.Millisecond
	for name, test := range map[string]struct {
		change func(*record.Push)
		by     Actor
		at     time.Duration // since it was created
		days   int           // 0: not asked for
		views  int
		err    error
		wrong  string // the fields
		ends   time.Duration
		limit  int
		silent bool // nothing changes
		state  record.State
	}{
		"of both":                              {by: owner, days: 9, views: 10, ends: 9 * record.Day, limit: 10},
		"of days":                              {by: owner, days: 9, ends: 9 * record.Day, limit: 3},
		"of views":                             {by: owner, views: 10, ends: 7 * record.Day, limit: 10},
		"of nothing":                           {by: owner, ends: 7 * record.Day, limit: 3, silent: true},
		"to what it was":                       {by: owner, days: 7, views: 3, ends: 7 * record.Day, limit: 3, silent: true},
		"by an anonymous client":               {by: anonymous, days: 9, err: record.ErrDenied},
		"by another account":                   {by: stranger, days: 9, err: record.ErrDenied},
		"of an anonymous push":                 {change: func(p *record.Push) { p.Owner = 0 }, by: anonymous, days: 9, err: record.ErrDenied},
		"by a viewer who may delete":           {change: func(p *record.Push) { p.DeletableByViewer = true }, by: stranger, days: 9, err: record.ErrDenied},
		"to the most days":                     {by: owner, days: 90, ends: 90 * record.Day, limit: 3},
		"to a day more":                        {by: owner, days: 91, wrong: "expire_after_days"},
		"to the fewest days":                   {by: owner, days: 2, ends: 2 * record.Day, limit: 3},
		"to a day less":                        {by: owner, days: 1, wrong: "expire_after_days"},
		"to less than no days":                 {by: owner, days: -1, wrong: "expire_after_days"},
		"to more days than time lasts":         {by: owner, days: 1<<63 - 1, wrong: "expire_after_days"},
		"to an end that is to come":            {by: owner, at: 3*record.Day - ms, days: 3, ends: 3 * record.Day, limit: 3},
		"to an end that is now":                {by: owner, at: 3 * record.Day, days: 3, wrong: "expire_after_days"},
		"to an end that is over":               {by: owner, at: 3*record.Day + ms, days: 3, wrong: "expire_after_days"},
		"in the last moment":                   {by: owner, at: 7*record.Day - ms, days: 8, ends: 8 * record.Day, limit: 3},
		"when it is over":                      {by: owner, at: 7 * record.Day, days: 8, ends: 7 * record.Day, limit: 3, silent: true, state: record.Expired},
		"of an expired one":                    {change: func(p *record.Push) { p.State = record.Expired }, by: owner, days: 8, ends: 7 * record.Day, limit: 3, silent: true, state: record.Expired},
		"of a deleted one":                     {change: func(p *record.Push) { p.State = record.Deleted }, by: owner, views: 1000, ends: 7 * record.Day, limit: 3, silent: true, state: record.Deleted},
		"to the most views":                    {by: owner, views: 100, ends: 7 * record.Day, limit: 100},
		"to a view more":                       {by: owner, views: 101, wrong: "expire_after_views"},
		"to the fewest views":                  {by: owner, views: 2, ends: 7 * record.Day, limit: 2},
		"to a view less":                       {by: owner, views: 1, wrong: "expire_after_views"},
		"to a view more than there were":       {change: func(p *record.Push) { p.ViewLimit, p.Views = 9, 4 }, by: owner, views: 5, ends: 7 * record.Day, limit: 5},
		"to as many as there were":             {change: func(p *record.Push) { p.ViewLimit, p.Views = 9, 4 }, by: owner, views: 4, wrong: "expire_after_views"},
		"to less than there were":              {change: func(p *record.Push) { p.ViewLimit, p.Views = 9, 4 }, by: owner, views: 3, wrong: "expire_after_views"},
		"of both that are wrong":               {by: owner, days: 91, views: 101, wrong: "expire_after_days expire_after_views"},
		"with one wrong changes nothing":       {by: owner, days: 9, views: 101, wrong: "expire_after_views"},
		"of less than a day to a day":          {change: func(p *record.Push) { p.Days, p.ExpiresAt = 2, newYear.Add(record.Day+time.Hour) }, by: owner, days: 2, ends: 2 * record.Day, limit: 3},
		"leaves what terms would not allow":    {change: func(p *record.Push) { p.Days, p.ExpiresAt = 200, newYear.Add(200*record.Day) }, by: owner, days: 200, views: 4, ends: 200 * record.Day, limit: 4},
		"leaves views that they would not":     {change: func(p *record.Push) { p.ViewLimit = 200 }, by: owner, days: 8, views: 200, ends: 8 * record.Day, limit: 200},
		"of a kind that there are no terms of": {change: func(p *record.Push) { p.Kind = record.URL }, by: owner, days: 8, wrong: "expire_after_days"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := livePush()
			if test.change != nil {
				test.change(&p)
			}
			at := sureAt(newYear.Add(test.at))
			var e PushEdit
			if test.days != 0 {
				e.Days = &test.days
			}
			if test.views != 0 {
				e.Views = &test.views
			}
			next, entry, err := editRule(test.by, at, []byte("who"), terms, e, noWords)(p)
			var invalid *record.InvalidError
			if errors.As(err, &invalid) {
				if got := fieldsOf(invalid); got != test.wrong {
					t.Errorf("wrong are %q", got)
				}
				return
			}
			if !errors.Is(err, test.err) || test.wrong != "" {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if got := next.ExpiresAt.Sub(newYear); got != test.ends || next.ViewLimit != test.limit || next.Views != p.Views {
				t.Errorf("it ends after %v, limit %d, %d views", got, next.ViewLimit, next.Views)
			}
			if test.silent != (next.Seq == p.Seq) || test.silent != (entry.Kind == 0) || !test.silent && (entry.Kind != record.EntryEdit || next.Minor != 1 || !next.UpdatedAt.Equal(at.Now)) {
				t.Errorf("entry %v, %d of them", entry.Kind, next.Seq)
			}
			if want := test.state; want != 0 && next.State != want || want == 0 && (!next.Live() || next.Wrap == nil) {
				t.Errorf("state %v", next.State)
			}
		})
	}
}

// noWords leaves name and note as they are.
func noWords(p record.Push, _ PushEdit) ([]byte, bool, error) { return p.Details, false, nil }

func fieldsOf(e *record.InvalidError) (names string) {
	for _, name := range []string{"expire_after_days", "expire_after_views"} {
		if e.Fields[name] != nil {
			if names != "" {
				names += " "
			}
			names += name
		}
	}
	return names
}

func TestAnEditWaitsForAClearTimeWhereTheEndIsInDoubt(t *testing.T) {
	t.Parallel()
	terms, days := map[record.Kind]Terms{record.Text: {Days: Range{Max: 90}, Views: Range{Max: 100}}}, 80
	rule := func(at clock.Instant) error {
		_, _, err := editRule(owner, at, nil, terms, PushEdit{Days: &days}, noWords)(livePush())
		return err
	}
	if err := rule(clock.Instant{Now: newYear, Denies: newYear.Add(7 * record.Day), Ends: newYear}); !errors.Is(err, record.ErrClock) {
		t.Errorf("error %v", err)
	}
	if err := rule(clock.Instant{Now: newYear, Denies: newYear.Add(7*record.Day - 1), Ends: newYear}); err != nil {
		t.Errorf("error %v", err)
	}
}

func TestAFullLogDoesNotHoldAnEditUp(t *testing.T) {
	t.Parallel()
	terms, days, at := map[record.Kind]Terms{record.Text: {Days: Range{Max: 90}}}, 9, sureAt(newYear.Add(time.Hour))
	p := livePush()
	p.Minor = MaxMinorEntries
	next, _, err := editRule(owner, at, nil, terms, PushEdit{Days: &days}, noWords)(p)
	if err != nil || next.Seq != p.Seq || next.Minor != p.Minor || next.Days != 9 || !next.UpdatedAt.Equal(at.Now) {
		t.Errorf("%+v, %v", next, err)
	}
}

func TestNoGrantOutlivesAnEndThatWasBroughtForward(t *testing.T) {
	t.Parallel()
	p := filePush()
	p.ExpiresAt = newYear.Add(10 * time.Minute)
	g := record.Grant{ExpiresAt: newYear.Add(window), Until: newYear.Add(record.Day)}
	now := grantWithin(g, p.ExpiresAt)
	if !now.ExpiresAt.Equal(p.ExpiresAt) || !now.Until.Equal(p.ExpiresAt) {
		t.Errorf("%+v", now)
	}
	if same := grantWithin(g, newYear.Add(2*record.Day)); same.ExpiresAt != g.ExpiresAt || same.Until != g.Until {
		t.Errorf("%+v", same)
	}
	for name, test := range map[string]struct {
		at   time.Duration
		want bool
	}{"before": {10*time.Minute - time.Millisecond, true}, "at its end": {10 * time.Minute, false}} {
		if _, _, keep := endGrantRule(sureAt(newYear.Add(test.at)))(p, g); keep != test.want {
			t.Errorf("%s: kept: %t", name, keep)
		}
	}
	if _, slid, _ := slideRule(sureAt(newYear.Add(9*time.Minute)), window)(p, g); !slid.ExpiresAt.Equal(g.ExpiresAt) {
		t.Errorf("it slid to %v", slid.ExpiresAt)
	}
	closed := closedPush()
	closed.ExpiresAt = newYear.Add(10 * time.Minute)
	if shelf, when := closed.ExpiryQueue(); shelf != record.Granted || !when.Equal(closed.ExpiresAt) {
		t.Errorf("it waits on shelf %d until %v", shelf, when)
	}
	if next, _, _ := releaseRule(sureAt(closed.ExpiresAt.Add(-time.Millisecond)))(closed); !next.HoldsFiles() {
		t.Error("its files went too soon")
	}
	if next, _, _ := releaseRule(sureAt(closed.ExpiresAt))(closed); !released(next) {
		t.Error("its files stayed")
	}
}
