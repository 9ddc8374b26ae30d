package store

import (
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

func TestARestore(t *testing.T) {
	t.Parallel()
	later := newYear.Add(8 * record.Day)
	doubtful := clock.Instant{Now: later, Denies: later, Ends: newYear} // a backup of some days ago
	files := func(p *record.Push) { p.Files, p.Stored, p.GrantsEnd = []byte("files"), 9, newYear.Add(time.Hour) }
	expired := func(p *record.Push) { p.State, p.ExpiredAt, p.Wrap, p.Link = record.Expired, newYear, nil, nil }
	full := func(p *record.Push) { p.Seq, p.Minor = MaxMinorEntries+1, MaxMinorEntries }
	for name, test := range map[string]struct {
		change []func(*record.Push)
		at     clock.Instant
		keep   bool
		kind   record.EntryKind // 0: no entry
		state  record.State
		holds  bool
	}{
		"ends what is live":                       {at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"ends files, and the grants for them":     {change: []func(*record.Push){files}, at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"ends what the clock may have ended":      {at: doubtful, kind: record.EntryExpire, state: record.Deleted},
		"leaves to time what it has ended":        {at: sureAt(later), state: record.Expired},
		"leaves what has expired":                 {change: []func(*record.Push){expired}, at: sureAt(newYear), state: record.Expired},
		"frees files that wait for a grant":       {change: []func(*record.Push){expired, files}, at: sureAt(newYear), state: record.Expired},
		"keeps what is live":                      {at: sureAt(newYear), keep: true, kind: record.EntryEdit, state: record.Live},
		"keeps files, and no grant":               {change: []func(*record.Push){files}, at: sureAt(newYear), keep: true, kind: record.EntryEdit, state: record.Live, holds: true},
		"keeps with an entry however many it has": {change: []func(*record.Push){full}, at: sureAt(newYear), keep: true, kind: record.EntryEdit, state: record.Live},
		"keeps nothing whose time is over":        {at: sureAt(later), keep: true, state: record.Expired},
		"keeps what only a doubt would end":       {at: doubtful, keep: true, kind: record.EntryEdit, state: record.Live},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := livePush()
			for _, change := range test.change {
				change(&p)
			}
			next, e, err := restoreRule(test.at, []byte("sealed"), test.keep)(p)
			if err != nil {
				t.Fatal(err)
			}
			entries := uint32(0)
			if test.kind != 0 {
				entries = 1
			}
			minor := p.Minor
			if test.kind.Minor() {
				minor++
			}
			if e.Kind != test.kind || next.State != test.state || next.Seq != p.Seq+entries || next.Minor != minor {
				t.Errorf("entry %v, state %v, %d entries more, %d minor", e.Kind, next.State, next.Seq-p.Seq, next.Minor)
			}
			if next.Views != p.Views || next.HoldsFiles() != test.holds || !next.GrantsEnd.IsZero() || next.Live() != (next.Wrap != nil) || next.Live() != (next.Link != nil) {
				t.Errorf("it is %+v", next)
			}
			if again, e, _ := restoreRule(test.at, nil, test.keep)(next); !next.Live() && (e.Kind != 0 || again.Seq != next.Seq) {
				t.Error("what has ended is ended again")
			}
		})
	}
}
