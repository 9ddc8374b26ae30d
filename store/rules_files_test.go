package store

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

// filePush is livePush as one that holds files, and has a grant that ends an
// hour after newYear.
func filePush() record.Push {
	p := livePush()
	p.Kind, p.Files, p.Stored, p.GrantsEnd = record.File, []byte("list"), 1000, newYear.Add(time.Hour)
	return p
}

// closedPush is filePush after its last view.
func closedPush() record.Push {
	p := filePush()
	p.State, p.ExpiredAt, p.Views, p.Wrap, p.Link = record.Expired, newYear, p.ViewLimit, nil, nil
	return p
}

func samePush(a, b record.Push) bool { return reflect.DeepEqual(a, b) }

// released reports whether nothing of a push's files is left.
func released(p record.Push) bool {
	return !p.HoldsFiles() && p.Files == nil && p.Stored == 0 && p.GrantsEnd.IsZero()
}

func TestARetrievalOfFilesIssuesAGrant(t *testing.T) {
	t.Parallel()
	over := newYear.Add(7 * record.Day)
	for name, test := range map[string]struct {
		change    func(*record.Push)
		by        Actor
		at        time.Time
		kind      record.EntryKind
		state     record.State
		issued    bool
		grantsEnd time.Duration // since newYear; 0: the files are given up
	}{
		"with a view":                     {by: anonymous, at: newYear.Add(time.Hour), kind: record.EntryView, state: record.Live, issued: true, grantsEnd: time.Hour + window},
		"with the owner's look":           {by: owner, at: newYear.Add(time.Hour), kind: record.EntryOwnerView, state: record.Live, issued: true, grantsEnd: time.Hour + window},
		"where others end later":          {by: anonymous, at: newYear, kind: record.EntryView, state: record.Live, issued: true, grantsEnd: time.Hour},
		"where there was none":            {change: func(p *record.Push) { p.GrantsEnd = time.Time{} }, by: anonymous, at: newYear, kind: record.EntryView, state: record.Live, issued: true, grantsEnd: window},
		"with the last view, and keeps":   {change: func(p *record.Push) { p.Views = 2 }, by: anonymous, at: newYear.Add(time.Hour), kind: record.EntryView, state: record.Expired, issued: true, grantsEnd: time.Hour + window},
		"not beyond the time limit":       {by: anonymous, at: over.Add(-time.Minute), kind: record.EntryView, state: record.Live, issued: true, grantsEnd: 7 * record.Day},
		"not when the time is over":       {by: anonymous, at: over, kind: record.EntryFailedView, state: record.Expired},
		"not to the owner then":           {by: owner, at: over, kind: record.EntryFailedView, state: record.Expired},
		"not after the last view":         {change: func(p *record.Push) { *p = closedPush() }, by: anonymous, at: newYear, kind: record.EntryFailedView, state: record.Expired, grantsEnd: time.Hour},
		"not to the owner after it":       {change: func(p *record.Push) { *p = closedPush() }, by: owner, at: newYear, kind: record.EntryFailedView, state: record.Expired, grantsEnd: time.Hour},
		"not of one that was deleted":     {change: func(p *record.Push) { p.State = record.Deleted; releaseFiles(p) }, by: anonymous, at: newYear, kind: record.EntryFailedView, state: record.Deleted},
		"and a full log does not hold it": {change: func(p *record.Push) { p.Minor = MaxMinorEntries }, by: owner, at: newYear.Add(time.Hour), kind: record.EntryOwnerView, state: record.Live, issued: true, grantsEnd: time.Hour + window},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := filePush()
			if test.change != nil {
				test.change(&p)
			}
			issue := newGrant(p, sureAt(test.at), window)
			next, e, err := retrieveRule(test.by, sureAt(test.at), nil, issue)(p)
			if err != nil || e.Kind != test.kind || next.State != test.state {
				t.Fatalf("entry %v, state %v, error %v", e.Kind, next.State, err)
			}
			if (e.Grant == issue) != test.issued || e.Grant != nil && !test.issued {
				t.Errorf("issued: %+v", e.Grant)
			}
			if test.grantsEnd == 0 {
				if !released(next) {
					t.Errorf("it still has files: %+v", next)
				}
				return
			}
			if got := next.GrantsEnd.Sub(newYear); got != test.grantsEnd || !next.HoldsFiles() || next.Stored != p.Stored {
				t.Errorf("its grants end after %v, want %v; %d bytes", got, test.grantsEnd, next.Stored)
			}
		})
	}
}

func TestARetrievalInDoubtOfTheTimeIssuesNothing(t *testing.T) {
	t.Parallel()
	p := filePush()
	at := doubted(newYear, 7*record.Day)
	next, e, err := retrieveRule(anonymous, at, nil, newGrant(p, at, window))(p)
	if !errors.Is(err, record.ErrClock) || e.Grant != nil || !samePush(next, p) {
		t.Errorf("%+v %+v %v", next, e, err)
	}
}

func TestARetrievalWithoutAnIssueLeavesTheGrantsAsTheyAre(t *testing.T) {
	t.Parallel()
	p := filePush()
	next, e, err := retrieveRule(anonymous, sureAt(newYear), nil, nil)(p)
	if err != nil || e.Grant != nil || !next.GrantsEnd.Equal(p.GrantsEnd) {
		t.Errorf("%+v %+v %v", next, e, err)
	}
}

func TestAWrongPassphraseGivesUpFilesOnlyWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	for at, gone := range map[time.Time]bool{newYear.Add(7*record.Day - time.Millisecond): false, newYear.Add(7 * record.Day): true} {
		next, e, err := wrongPassphraseRule(sureAt(at), nil, 0)(filePush())
		if err != nil || e.Grant != nil || released(next) != gone {
			t.Errorf("at %v: %+v %+v %v", at, next, e, err)
		}
	}
}

func TestADeleteGivesUpTheFilesAtOnce(t *testing.T) {
	t.Parallel()
	over := newYear.Add(7 * record.Day)
	viewer := func(p *record.Push) { p.Owner, p.DeletableByViewer = 0, true }
	for name, test := range map[string]struct {
		push   record.Push
		change func(*record.Push)
		by     Actor
		at     clock.Instant
		state  record.State
		logged bool
		denied bool
	}{
		"of a live one":                          {push: filePush(), by: owner, at: sureAt(newYear), state: record.Deleted, logged: true},
		"of a live one by a viewer who may":      {push: filePush(), change: viewer, by: anonymous, at: sureAt(newYear), state: record.Deleted, logged: true},
		"of a live one in doubt of the time":     {push: filePush(), by: owner, at: doubted(newYear, 400*record.Day), state: record.Deleted, logged: true},
		"of one whose time is over":              {push: filePush(), by: owner, at: sureAt(over), state: record.Expired},
		"of one that is closed":                  {push: closedPush(), by: owner, at: sureAt(newYear), state: record.Expired},
		"of one that is closed, by a viewer":     {push: closedPush(), change: viewer, by: anonymous, at: sureAt(newYear), state: record.Expired},
		"of one that is closed, after its time":  {push: closedPush(), by: owner, at: sureAt(over), state: record.Expired},
		"not of a live one by another":           {push: filePush(), by: stranger, at: sureAt(newYear), denied: true},
		"not of one that is closed, by a viewer": {push: closedPush(), by: anonymous, at: sureAt(newYear), denied: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := test.push
			if test.change != nil {
				test.change(&p)
			}
			next, e, err := deleteRule(test.by, test.at, nil)(p)
			if test.denied {
				if !errors.Is(err, record.ErrDenied) || !samePush(next, p) {
					t.Errorf("error %v, %+v", err, next)
				}
				return
			}
			if err != nil || next.State != test.state || !released(next) || next.Wrap != nil || next.Link != nil {
				t.Errorf("error %v, %+v", err, next)
			}
			if logged := next.Seq == p.Seq+1; logged != test.logged || (e.Kind == record.EntryExpire) != (logged || !test.push.Live()) {
				t.Errorf("%d entries, the last of kind %q", next.Seq, e.Kind)
			}
			if !p.Live() && (!next.ExpiredAt.Equal(p.ExpiredAt) || !next.UpdatedAt.Equal(p.UpdatedAt)) {
				t.Errorf("its times were changed: %+v", next)
			}
		})
	}
}

func TestExpiryGivesUpTheFiles(t *testing.T) {
	t.Parallel()
	over := newYear.Add(7 * record.Day)
	if p, _, err := expireRule(sureAt(over))(filePush()); err != nil || p.State != record.Expired || !released(p) {
		t.Errorf("%+v, %v", p, err)
	}
	for name, p := range map[string]record.Push{"in its last moment": filePush(), "closed already": closedPush()} {
		at := over
		if p.Live() {
			at = over.Add(-time.Millisecond)
		}
		if next, _, err := expireRule(sureAt(at))(p); err != nil || !samePush(next, p) {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
	}
	if p, _, _ := expireRule(doubted(newYear, 400*record.Day))(filePush()); !samePush(p, filePush()) {
		t.Errorf("in doubt: %+v", p)
	}
}

func TestFilesOfAClosedPushGoWithItsLastGrant(t *testing.T) {
	t.Parallel()
	ends := newYear.Add(time.Hour)
	noGrant := closedPush()
	noGrant.GrantsEnd = time.Time{}
	for name, test := range map[string]struct {
		push record.Push
		at   clock.Instant
		gone bool
	}{
		"before it ends":                 {closedPush(), sureAt(ends.Add(-time.Millisecond)), false},
		"when it ends":                   {closedPush(), sureAt(ends), true},
		"after it":                       {closedPush(), sureAt(ends.Add(record.Day)), true},
		"not in doubt":                   {closedPush(), doubted(newYear, 400*record.Day), false},
		"not while the push is live":     {filePush(), sureAt(ends.Add(record.Day)), false},
		"at once where there is no such": {noGrant, sureAt(newYear), true},
	} {
		next, e, err := releaseRule(test.at)(test.push)
		if err != nil || e.Kind != 0 || next.Seq != test.push.Seq {
			t.Errorf("%s: entry %v, error %v", name, e, err)
		}
		if released(next) != test.gone || !test.gone && !samePush(next, test.push) {
			t.Errorf("%s: %+v", name, next)
		}
		if next.State != test.push.State || !next.ExpiredAt.Equal(test.push.ExpiredAt) {
			t.Errorf("%s: its state was changed: %+v", name, next)
		}
	}
}

func TestAPushWaitsInTheQueueOfItsEnd(t *testing.T) {
	t.Parallel()
	unowned := func(p record.Push) record.Push { p.Owner = 0; return p }
	ours := func(p record.Push) record.Push { p.ID = newID(NewToken(newYear), [16]byte{}); return p }
	without := func(p record.Push) record.Push { releaseFiles(&p); return ours(p) }
	ends := newYear.Add(time.Hour)
	for name, test := range map[string]struct {
		push  record.Push
		shelf record.ExpiryQueue
		when  time.Time
	}{
		"live":                            {livePush(), record.Expiring, newYear.Add(7 * record.Day)},
		"live, anonymous":                 {unowned(livePush()), record.Expiring, newYear.Add(7 * record.Day)},
		"live, with files and grants":     {filePush(), record.Expiring, newYear.Add(7 * record.Day)},
		"closed, with files":              {closedPush(), record.Granted, ends},
		"closed, with files, anonymous":   {unowned(closedPush()), record.Granted, ends},
		"closed, files gone":              {without(closedPush()), record.ExpiredOwned, newYear},
		"closed, files gone, anonymous":   {unowned(without(closedPush())), record.ExpiredAnon, newYear},
		"ended, of another server":        {func() record.Push { p := without(closedPush()); p.ID = record.ID{}; return p }(), record.ExpiredOwned, newYear.Add(7 * record.Day)},
		"files for no grant are due soon": {func() record.Push { p := closedPush(); p.GrantsEnd = time.Time{}; return p }(), record.Granted, time.Time{}},
	} {
		if shelf, when := test.push.ExpiryQueue(); shelf != test.shelf || !when.Equal(test.when) {
			t.Errorf("%s: shelf %d at %v", name, shelf, when)
		}
	}
}

func TestAPurgeDoesNotTakeAPushWhoseFilesAreStillGranted(t *testing.T) {
	t.Parallel()
	for _, from := range []record.ExpiryQueue{record.ExpiredAnon, record.ExpiredOwned} {
		if next, _, _ := purgeRule(from)(closedPush()); next.State == record.Purged {
			t.Errorf("from shelf %d it was taken", from)
		}
	}
}

func TestACheckComparesAPushWithWhatBelongsToIt(t *testing.T) {
	t.Parallel()
	ends := newYear.Add(time.Hour)
	for name, test := range map[string]struct {
		push   record.Push
		change func(*record.Push, *record.Tally)
		want   string
	}{
		"live":                      {push: filePush()},
		"closed":                    {push: closedPush()},
		"its last grant is gone":    {push: closedPush(), change: func(_ *record.Push, t *record.Tally) { t.GrantsEnd = time.Time{} }},
		"its last grant ended less": {push: filePush(), change: func(_ *record.Push, t *record.Tally) { t.GrantsEnd = ends.Add(-time.Minute) }},
		"a grant ends later": {
			push: filePush(), change: func(_ *record.Push, t *record.Tally) { t.GrantsEnd = ends.Add(time.Millisecond) },
			want: "a grant for its files ends later than it says",
		},
		"a byte is missing": {
			push: filePush(), change: func(_ *record.Push, t *record.Tally) { t.Stored-- },
			want: "its files take 1000 bytes, 999 are there",
		},
		"a byte too many": {
			push: filePush(), change: func(_ *record.Push, t *record.Tally) { t.Stored++ },
			want: "its files take 1000 bytes, 1001 are there",
		},
		"files that take nothing": {
			push: filePush(), change: func(p *record.Push, t *record.Tally) { p.Stored, t.Stored = 0, 0 },
			want: "its files and what they take disagree",
		},
		"closed, with its key": {
			push: closedPush(), change: func(p *record.Push, _ *record.Tally) { p.Wrap = []byte{1} },
			want: "it has expired and its key is still there",
		},
		"closed, with its link": {
			push: closedPush(), change: func(p *record.Push, _ *record.Tally) { p.Link = []byte{1} },
			want: "it has expired and its link is still there",
		},
		"live, with its link": {push: filePush(), change: func(p *record.Push, _ *record.Tally) { p.Link = []byte{1} }},
		"closed for no grant": {
			push: closedPush(), change: func(p *record.Push, t *record.Tally) { p.GrantsEnd, t.GrantsEnd = time.Time{}, time.Time{} },
			want: "it has expired and holds files for no grant",
		},
	} {
		p := test.push
		tally := record.Tally{
			Payload: p.Live(), Entries: p.Seq, Views: p.Views, Numbered: true, Indexed: true,
			Stored: p.Stored, GrantsEnd: p.GrantsEnd,
		}
		if test.change != nil {
			test.change(&p, &tally)
		}
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if got := p.Problems(tally); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	p := filePush()
	releaseFiles(&p)
	got := p.Problems(record.Tally{Payload: true, Entries: 1, Numbered: true, Indexed: true, Stored: 5, GrantsEnd: ends})
	want := []string{
		"its files take 0 bytes, 5 are there",
		"a grant for its files ends later than it says",
		"it holds no files and has grants",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("files given up, and still there: %q, want %q", got, want)
	}
}
