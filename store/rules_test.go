package store

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

var (
	owner     = Actor{Account: 7}
	stranger  = Actor{Account: 8}
	anonymous = Actor{}
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func sureAt(t time.Time) clock.Instant { return clock.Instant{Now: t, Denies: t, Ends: t} }

// livePush is an owned push that expires a week after newYear, after 3 views.
func livePush() record.Push {
	return record.Push{
		Kind: record.Text, State: record.Live, Owner: owner.Account, CreatedAt: newYear, UpdatedAt: newYear,
		ExpiresAt: newYear.Add(7 * record.Day), Days: 7, ViewLimit: 3, Seq: 1, Wrap: []byte("wrap"), Link: []byte("link"),
	}
}

func TestARetrieval(t *testing.T) {
	t.Parallel()
	before, on := newYear.Add(7*record.Day-time.Millisecond), newYear.Add(7*record.Day)
	for name, test := range map[string]struct {
		change  func(*record.Push)
		by      Actor
		at      clock.Instant
		kind    record.EntryKind
		state   record.State
		views   int
		refused error
	}{
		"counts a view":                        {by: anonymous, at: sureAt(newYear), kind: record.EntryView, state: record.Live, views: 1},
		"of another account counts":            {by: stranger, at: sureAt(newYear), kind: record.EntryView, state: record.Live, views: 1},
		"of the owner counts nothing":          {by: owner, at: sureAt(newYear), kind: record.EntryOwnerView, state: record.Live},
		"of an anonymous push counts":          {change: func(p *record.Push) { p.Owner = 0 }, by: anonymous, at: sureAt(newYear), kind: record.EntryView, state: record.Live, views: 1},
		"in the last moment counts":            {by: anonymous, at: sureAt(before), kind: record.EntryView, state: record.Live, views: 1},
		"when the time is over ends it":        {by: anonymous, at: sureAt(on), kind: record.EntryFailedView, state: record.Expired},
		"by the owner then ends it too":        {by: owner, at: sureAt(on), kind: record.EntryFailedView, state: record.Expired},
		"before the last view":                 {change: func(p *record.Push) { p.Views = 1 }, by: anonymous, at: sureAt(newYear), kind: record.EntryView, state: record.Live, views: 2},
		"that is the last view ends it":        {change: func(p *record.Push) { p.Views = 2 }, by: anonymous, at: sureAt(newYear), kind: record.EntryView, state: record.Expired, views: 3},
		"of an expired push fails":             {change: func(p *record.Push) { p.State, p.Views = record.Expired, 3 }, by: anonymous, at: sureAt(newYear), kind: record.EntryFailedView, state: record.Expired, views: 3},
		"of a deleted push fails":              {change: func(p *record.Push) { p.State = record.Deleted }, by: owner, at: sureAt(newYear), kind: record.EntryFailedView, state: record.Deleted},
		"waits while a jump may have ended it": {by: anonymous, at: clock.Instant{Now: newYear, Denies: on, Ends: newYear, Jumped: true}, refused: record.ErrClock},
		"goes on in a doubt that is not its":   {by: anonymous, at: clock.Instant{Now: newYear, Denies: before, Ends: newYear, Jumped: true}, kind: record.EntryView, state: record.Live, views: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := livePush()
			if test.change != nil {
				test.change(&p)
			}
			next, e, err := retrieveRule(test.by, test.at, nil, nil)(p)
			if !errors.Is(err, test.refused) {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if e.Kind != test.kind || next.State != test.state || next.Views != test.views || next.Seq != 2 {
				t.Errorf("entry %v, state %v, views %d, seq %d", e.Kind, next.State, next.Views, next.Seq)
			}
			if (next.Live() != (next.Wrap != nil) || next.Live() != (next.Link != nil)) && p.Live() {
				t.Error("the key stayed, or went too soon")
			}
		})
	}
}

func TestADelete(t *testing.T) {
	t.Parallel()
	allow := func(p *record.Push) { p.DeletableByViewer = true }
	for name, test := range map[string]struct {
		change  func(*record.Push)
		by      Actor
		at      clock.Instant
		kind    record.EntryKind
		state   record.State
		refused error
	}{
		"by the owner":                   {by: owner, at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"by an anonymous client":         {by: anonymous, at: sureAt(newYear), refused: record.ErrDenied},
		"by another account":             {by: stranger, at: sureAt(newYear), refused: record.ErrDenied},
		"of an anonymous push":           {change: func(p *record.Push) { p.Owner = 0 }, by: anonymous, at: sureAt(newYear), refused: record.ErrDenied},
		"by the operator":                {by: Actor{Role: Operator}, at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"by a viewer who may":            {change: allow, by: anonymous, at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"by another account that may":    {change: allow, by: stranger, at: sureAt(newYear), kind: record.EntryExpire, state: record.Deleted},
		"again":                          {change: func(p *record.Push) { p.State = record.Deleted }, by: owner, at: sureAt(newYear), state: record.Deleted},
		"of an expired one":              {change: func(p *record.Push) { p.State = record.Expired }, by: owner, at: sureAt(newYear), state: record.Expired},
		"after its time is no delete":    {by: owner, at: sureAt(newYear.Add(7 * record.Day)), state: record.Expired},
		"does not wait for a clear time": {by: owner, at: clock.Instant{Now: newYear, Denies: newYear.Add(8 * record.Day), Ends: newYear, Jumped: true}, kind: record.EntryExpire, state: record.Deleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := livePush()
			if test.change != nil {
				test.change(&p)
			}
			next, e, err := deleteRule(test.by, test.at, nil)(p)
			if !errors.Is(err, test.refused) {
				t.Fatalf("error %v", err)
			}
			if err == nil && (e.Kind != test.kind || next.State != test.state) {
				t.Errorf("entry %v, state %v", e.Kind, next.State)
			}
			if err == nil && (next.Seq == 2) != (test.kind != 0) {
				t.Errorf("%d entries", next.Seq)
			}
		})
	}
}

func TestAWrongPassphrase(t *testing.T) {
	t.Parallel()
	next, e, err := wrongPassphraseRule(sureAt(newYear), nil, 50)(livePush())
	if err != nil || e.Kind != record.EntryFailedPassphrase || next.Views != 0 || next.Seq != 2 || next.Minor != 1 || next.Failed != 1 || !next.Live() {
		t.Errorf("%+v %+v %v", next, e, err)
	}
	next, e, err = wrongPassphraseRule(sureAt(newYear.Add(7*record.Day)), nil, 50)(livePush())
	if err != nil || e.Kind != 0 || next.State != record.Expired || next.Seq != 1 || next.Failed != 0 {
		t.Errorf("too late: %+v %+v %v", next, e, err)
	}
}

// The last wrong passphrase that a push may have freezes it, with an owner or without; one
// before does not.
func TestTooManyWrongPassphrases(t *testing.T) {
	t.Parallel()
	at := sureAt(newYear.Add(time.Hour))
	for name, c := range map[string]struct {
		owner  record.AccountID
		failed int
		most   int
		frozen bool // before

		kind   record.EntryKind
		freeze bool
	}{
		"one before the last":           {owner: owner.Account, failed: 48, most: 50, kind: record.EntryFailedPassphrase},
		"the last":                      {owner: owner.Account, failed: 49, most: 50, kind: record.EntryFreeze, freeze: true},
		"one more, of a known browser":  {owner: owner.Account, failed: 50, most: 50, frozen: true, kind: record.EntryFailedPassphrase, freeze: true},
		"beyond a limit that was lower": {owner: owner.Account, failed: 70, most: 50, kind: record.EntryFreeze, freeze: true},
		"without a limit":               {owner: owner.Account, failed: 5000, kind: record.EntryFailedPassphrase},
		"anonymous, one before":         {failed: 48, most: 50, kind: record.EntryFailedPassphrase},
		"anonymous, the last":           {failed: 49, most: 50, kind: record.EntryFreeze, freeze: true},
		"anonymous, without a limit":    {failed: 5000, kind: record.EntryFailedPassphrase},
	} {
		p := filePush()
		p.Owner, p.Failed, p.Frozen = c.owner, c.failed, c.frozen
		next, e, err := wrongPassphraseRule(at, nil, c.most)(p)
		if err != nil || e.Kind != c.kind || next.Frozen != c.freeze || !next.Live() || next.Failed != c.failed+1 || next.Seq != p.Seq+1 {
			t.Errorf("%s: entry %v, frozen %t, state %v, failed %d, %v", name, e.Kind, next.Frozen, next.State, next.Failed, err)
		}
		if next.Wrap == nil || released(next) {
			t.Errorf("%s: key or files are gone", name)
		}
	}
}

func TestTheFreezeIsRecordedInAFullLog(t *testing.T) {
	t.Parallel()
	p := livePush()
	p.Owner, p.Failed, p.Minor, p.Seq = owner.Account, 49, MaxMinorEntries, MaxMinorEntries+1
	next, e, err := wrongPassphraseRule(sureAt(newYear), nil, 50)(p)
	if err != nil || e.Kind != record.EntryFreeze || next.Seq != p.Seq+1 || next.Minor != p.Minor {
		t.Errorf("%+v %+v %v", next, e, err)
	}
}

func TestAThaw(t *testing.T) {
	t.Parallel()
	frozen := livePush()
	frozen.Owner, frozen.Failed, frozen.Frozen, frozen.Receipt = owner.Account, 50, true, seal.Digest(secret.New("code"))
	for name, c := range map[string]struct {
		by    Actor
		after time.Duration
		thaws bool
		err   error
	}{
		"by its owner":     {by: owner, thaws: true},
		"by its receipt":   {by: Actor{ReceiptCode: secret.New("code")}, thaws: true},
		"by another code":  {by: Actor{ReceiptCode: secret.New("other")}, err: record.ErrDenied},
		"by another":       {by: stranger, err: record.ErrDenied},
		"by no client":     {err: record.ErrDenied},
		"when it was over": {by: owner, after: 7 * record.Day},
	} {
		next, e, err := thawRule(c.by, sureAt(newYear.Add(c.after)), nil)(frozen)
		if !errors.Is(err, c.err) || (e.Kind == record.EntryThaw) != c.thaws || err == nil && next.Frozen || c.thaws && next.Failed != 0 {
			t.Errorf("%s: %+v %+v %v", name, next, e, err)
		}
	}
	thawed := livePush()
	thawed.Owner, thawed.Failed = owner.Account, 7
	if next, e, err := thawRule(owner, sureAt(newYear), nil)(thawed); err != nil || e.Kind != 0 || next.Failed != 7 {
		t.Errorf("not frozen: %+v %+v %v", next, e, err)
	}
}

func TestMinorEntriesStopAndOthersDoNot(t *testing.T) {
	t.Parallel()
	p := livePush()
	p.Minor, p.Seq = MaxMinorEntries-1, MaxMinorEntries
	at := sureAt(newYear.Add(time.Hour))
	p, _, _ = retrieveRule(owner, at, nil, nil)(p)
	if p.Minor != MaxMinorEntries || p.Seq != MaxMinorEntries+1 {
		t.Fatalf("the last one was not kept: %d of %d", p.Minor, p.Seq)
	}
	for name, rule := range map[string]record.Rule{
		"owner_view":        retrieveRule(owner, at, nil, nil),
		"failed_passphrase": wrongPassphraseRule(at, nil, 0),
	} {
		if next, _, err := rule(p); err != nil || next.Seq != p.Seq || next.UpdatedAt != p.UpdatedAt {
			t.Errorf("%s: one more was kept (%v)", name, err)
		}
	}
	if next, _, _ := retrieveRule(anonymous, at, nil, nil)(p); next.Seq != p.Seq+1 || next.Views != 1 {
		t.Error("a view was not kept")
	}
	if next, _, _ := deleteRule(owner, at, nil)(p); next.Seq != p.Seq+1 {
		t.Error("an expire was not kept")
	}
}

func TestAPushEndsWhenItsTimeIsOverAndNotWhenItIsNoticed(t *testing.T) {
	t.Parallel()
	p, _, _ := expireRule(sureAt(newYear.Add(9 * record.Day)))(livePush())
	if p.State != record.Expired || p.ExpiredAt != newYear.Add(7*record.Day) || p.UpdatedAt != newYear.Add(9*record.Day) || p.Wrap != nil || p.Link != nil {
		t.Errorf("%+v", p)
	}
	if p, _, _ := expireRule(sureAt(newYear.Add(7*record.Day - time.Millisecond)))(livePush()); !p.Live() {
		t.Error("it ended too soon")
	}
}

func TestAPurgeTakesOnlyWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	expired := livePush()
	expired.State = record.Expired
	for _, test := range []struct {
		push  record.Push
		from  record.ExpiryQueue
		state record.State
	}{
		{livePush(), record.ExpiredOwned, record.Live},
		{expired, record.ExpiredOwned, record.Purged},
		{expired, record.ExpiredAnon, record.Expired},
	} {
		if next, _, _ := purgeRule(test.from)(test.push); next.State != test.state {
			t.Errorf("from shelf %d: state %d", test.from, next.State)
		}
	}
}

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
			env.OK(t, err)
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
