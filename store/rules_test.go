package store

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
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
func livePush() Push {
	return Push{
		Kind: Text, State: Live, Owner: owner.Account, CreatedAt: newYear, UpdatedAt: newYear,
		ExpiresAt: newYear.Add(7 * day), Days: 7, ViewLimit: 3, Seq: 1, Wrap: []byte("wrap"), Link: []byte("link"),
	}
}

func TestARetrieval(t *testing.T) {
	t.Parallel()
	before, on := newYear.Add(7*day-time.Millisecond), newYear.Add(7*day)
	for name, test := range map[string]struct {
		change  func(*Push)
		by      Actor
		at      clock.Instant
		kind    EntryKind
		state   State
		views   int
		refused error
	}{
		"counts a view":                        {by: anonymous, at: sureAt(newYear), kind: EntryView, state: Live, views: 1},
		"of another account counts":            {by: stranger, at: sureAt(newYear), kind: EntryView, state: Live, views: 1},
		"of the owner counts nothing":          {by: owner, at: sureAt(newYear), kind: EntryOwnerView, state: Live},
		"of an anonymous push counts":          {change: func(p *Push) { p.Owner = 0 }, by: anonymous, at: sureAt(newYear), kind: EntryView, state: Live, views: 1},
		"in the last moment counts":            {by: anonymous, at: sureAt(before), kind: EntryView, state: Live, views: 1},
		"when the time is over ends it":        {by: anonymous, at: sureAt(on), kind: EntryFailedView, state: Expired},
		"by the owner then ends it too":        {by: owner, at: sureAt(on), kind: EntryFailedView, state: Expired},
		"before the last view":                 {change: func(p *Push) { p.Views = 1 }, by: anonymous, at: sureAt(newYear), kind: EntryView, state: Live, views: 2},
		"that is the last view ends it":        {change: func(p *Push) { p.Views = 2 }, by: anonymous, at: sureAt(newYear), kind: EntryView, state: Expired, views: 3},
		"of an expired push fails":             {change: func(p *Push) { p.State, p.Views = Expired, 3 }, by: anonymous, at: sureAt(newYear), kind: EntryFailedView, state: Expired, views: 3},
		"of a deleted push fails":              {change: func(p *Push) { p.State = Deleted }, by: owner, at: sureAt(newYear), kind: EntryFailedView, state: Deleted},
		"waits while a jump may have ended it": {by: anonymous, at: clock.Instant{Now: newYear, Denies: on, Ends: newYear, Jumped: true}, refused: ErrClock},
		"goes on in a doubt that is not its":   {by: anonymous, at: clock.Instant{Now: newYear, Denies: before, Ends: newYear, Jumped: true}, kind: EntryView, state: Live, views: 1},
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
	allow := func(p *Push) { p.DeletableByViewer = true }
	for name, test := range map[string]struct {
		change  func(*Push)
		by      Actor
		at      clock.Instant
		kind    EntryKind
		state   State
		refused error
	}{
		"by the owner":                   {by: owner, at: sureAt(newYear), kind: EntryExpire, state: Deleted},
		"by an anonymous client":         {by: anonymous, at: sureAt(newYear), refused: ErrDenied},
		"by another account":             {by: stranger, at: sureAt(newYear), refused: ErrDenied},
		"of an anonymous push":           {change: func(p *Push) { p.Owner = 0 }, by: anonymous, at: sureAt(newYear), refused: ErrDenied},
		"by the operator":                {by: Actor{Role: Operator}, at: sureAt(newYear), kind: EntryExpire, state: Deleted},
		"by a viewer who may":            {change: allow, by: anonymous, at: sureAt(newYear), kind: EntryExpire, state: Deleted},
		"by another account that may":    {change: allow, by: stranger, at: sureAt(newYear), kind: EntryExpire, state: Deleted},
		"again":                          {change: func(p *Push) { p.State = Deleted }, by: owner, at: sureAt(newYear), state: Deleted},
		"of an expired one":              {change: func(p *Push) { p.State = Expired }, by: owner, at: sureAt(newYear), state: Expired},
		"after its time is no delete":    {by: owner, at: sureAt(newYear.Add(7 * day)), state: Expired},
		"does not wait for a clear time": {by: owner, at: clock.Instant{Now: newYear, Denies: newYear.Add(8 * day), Ends: newYear, Jumped: true}, kind: EntryExpire, state: Deleted},
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
	if err != nil || e.Kind != EntryFailedPassphrase || next.Views != 0 || next.Seq != 2 || next.Minor != 1 || next.Failed != 1 || !next.Live() {
		t.Errorf("%+v %+v %v", next, e, err)
	}
	next, e, err = wrongPassphraseRule(sureAt(newYear.Add(7*day)), nil, 50)(livePush())
	if err != nil || e.Kind != 0 || next.State != Expired || next.Seq != 1 || next.Failed != 0 {
		t.Errorf("too late: %+v %+v %v", next, e, err)
	}
}

// The last wrong passphrase that a push may have freezes it, with an owner or without; one
// before does not.
func TestTooManyWrongPassphrases(t *testing.T) {
	t.Parallel()
	at := sureAt(newYear.Add(time.Hour))
	for name, c := range map[string]struct {
		owner  AccountID
		failed int
		most   int
		frozen bool // before

		kind   EntryKind
		freeze bool
	}{
		"one before the last":           {owner: owner.Account, failed: 48, most: 50, kind: EntryFailedPassphrase},
		"the last":                      {owner: owner.Account, failed: 49, most: 50, kind: EntryFreeze, freeze: true},
		"one more, of a known browser":  {owner: owner.Account, failed: 50, most: 50, frozen: true, kind: EntryFailedPassphrase, freeze: true},
		"beyond a limit that was lower": {owner: owner.Account, failed: 70, most: 50, kind: EntryFreeze, freeze: true},
		"without a limit":               {owner: owner.Account, failed: 5000, kind: EntryFailedPassphrase},
		"anonymous, one before":         {failed: 48, most: 50, kind: EntryFailedPassphrase},
		"anonymous, the last":           {failed: 49, most: 50, kind: EntryFreeze, freeze: true},
		"anonymous, without a limit":    {failed: 5000, kind: EntryFailedPassphrase},
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
	if err != nil || e.Kind != EntryFreeze || next.Seq != p.Seq+1 || next.Minor != p.Minor {
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
		"by another code":  {by: Actor{ReceiptCode: secret.New("other")}, err: ErrDenied},
		"by another":       {by: stranger, err: ErrDenied},
		"by no client":     {err: ErrDenied},
		"when it was over": {by: owner, after: 7 * day},
	} {
		next, e, err := thawRule(c.by, sureAt(newYear.Add(c.after)), nil)(frozen)
		if !errors.Is(err, c.err) || (e.Kind == EntryThaw) != c.thaws || err == nil && next.Frozen || c.thaws && next.Failed != 0 {
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
	for name, rule := range map[string]Rule{
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
	p, _, _ := expireRule(sureAt(newYear.Add(9 * day)))(livePush())
	if p.State != Expired || p.ExpiredAt != newYear.Add(7*day) || p.UpdatedAt != newYear.Add(9*day) || p.Wrap != nil || p.Link != nil {
		t.Errorf("%+v", p)
	}
	if p, _, _ := expireRule(sureAt(newYear.Add(7*day - time.Millisecond)))(livePush()); !p.Live() {
		t.Error("it ended too soon")
	}
}

func TestAPurgeTakesOnlyWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	expired := livePush()
	expired.State = Expired
	for _, test := range []struct {
		push  Push
		from  ExpiryQueue
		state State
	}{
		{livePush(), ExpiredOwned, Live},
		{expired, ExpiredOwned, Purged},
		{expired, ExpiredAnon, Expired},
	} {
		if next, _, _ := purgeRule(test.from)(test.push); next.State != test.state {
			t.Errorf("from shelf %d: state %d", test.from, next.State)
		}
	}
}
