package conformance

import (
	"strings"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var pushSuite = suite{
	"a push of an owner who may not act is refused":                   refusesAnOwner,
	"without space, dispensable entries are left out":                 leavesEntriesOut,
	"a rule that panics changes nothing":                              survivesAPanic,
	"a rule that breaks the rules is refused":                         refusesABadRule,
	"a new push may have two entries":                                 createsWithTwoEntries,
	"of two creates with the same key, one makes a push":              createsOnce,
	"a push keeps its times, and a view may bring its end forward":    keepsTimes,
	"views at the same time never pass the limit":                     countsConcurrently,
	"operations that fail do not affect operations of the same batch": isolatesFailures,
}

func refusesAnOwner(t *testing.T, e record.Engine) {
	id := account(t, e, "owner@example.org")
	p := LivePush(1, id)
	for _, is := range []record.Account{{Disabled: true}, {Removing: true}} {
		Alter(t, e, id, func(a *record.Account) { a.Disabled, a.Removing = is.Disabled, is.Removing })
		WantErr(t, Made(e.CreatePush(t.Context(), p, Payload(1), Creation(p))), record.ErrToken)
		got(Push(t.Context(), e, p.ID)).fails(t, record.ErrNotFound)
	}
	Alter(t, e, id, func(a *record.Account) { a.Disabled, a.Removing = false, false })
	create(t, e, 1, id)
}

// keepsTimes has a push open later, and its first view end it sooner, as the expiry index must know.
func keepsTimes(t *testing.T, e record.Engine) {
	p := LivePush(9, account(t, e, "owner@example.org"))
	p.OpensAt, p.CloseAfter = p.CreatedAt.Add(time.Minute), time.Hour
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(9), Creation(p))))
	other := create(t, e, 3, 0)
	due := func(behind record.ExpiryPlace, until time.Time, want ...int) {
		t.Helper()
		ids, _, err := e.Due(t.Context(), record.Expiring, behind, until, 9)
		Must(t, err)
		if len(ids)+len(want) > 0 {
			Same(t, "due", ids, pushIDs(want...))
		}
	}
	due(record.ExpiryPlace{}, p.ExpiresAt, 3, 9)
	due(record.ExpiryPlace{At: other.ExpiresAt, ID: other.ID}, p.ExpiresAt, 9)
	due(record.ExpiryPlace{At: p.ExpiresAt, ID: p.ID}, p.ExpiresAt)
	want := change(t, e, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := View(p)
		next.SetEnd(next.UpdatedAt.Add(p.CloseAfter))
		return next, e, err
	}).Push
	change(t, e, p.ID, View)
	want.Views, want.Seq, want.UpdatedAt = 2, 3, want.UpdatedAt.Add(time.Second)
	Same(t, "push", got(Push(t.Context(), e, p.ID)).of(t), want)
	due(record.ExpiryPlace{}, want.ExpiresAt, 9)
	due(record.ExpiryPlace{}, other.ExpiresAt, 9, 3)
	want = change(t, e, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		p.Reminded = true
		return p, record.Entry{}, nil
	}).Push
	Same(t, "reminded push", got(Push(t.Context(), e, p.ID)).of(t), want)
	change(t, e, p.ID, end(record.Expired))
	due(record.ExpiryPlace{}, other.ExpiresAt, 3)
}

func leavesEntriesOut(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	fail := func(p record.Push) (record.Push, record.Entry, error) {
		p.Seq, p.Minor = p.Seq+1, p.Minor+1
		return p, record.Entry{Kind: record.EntryFailedView, At: time.Unix(1e9, 0), Sealed: []byte("failed")}, nil
	}
	change(t, e, p.ID, fail)
	e.SetSpaceLimits(record.SpaceLimits{MaxSize: 1})
	change(t, e, p.ID, fail)
	change(t, e, p.ID, View)
	e.SetSpaceLimits(record.SpaceLimits{})
	change(t, e, p.ID, fail)
	var kinds []record.EntryKind
	for _, one := range got(e.Entries(t.Context(), p.ID, 0, 10)).of(t) {
		kinds = append(kinds, one.Kind)
	}
	Same(t, "entries", kinds, []record.EntryKind{record.EntryCreation, record.EntryFailedView, record.EntryView, record.EntryFailedView})
	Same(t, "minor entries", got(Push(t.Context(), e, p.ID)).of(t).Minor, uint32(2))
}

func survivesAPanic(t *testing.T, e record.Engine) {
	CreateFiles(t, e, 1, 0)
	g, id := issue(t, e, 1, 1), account(t, e, "a@example.org")
	before := mustPush(t, e, 1)
	_, changed := e.Change(t.Context(), before.ID, func(record.Push) (record.Push, record.Entry, error) { panic("a secret marker") })
	_, granted := e.ChangeGrant(t.Context(), g.Digest, func(record.Push, record.Grant) (record.Push, record.Grant, bool) { panic("a secret marker") })
	_, altered := cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		panic("a secret marker")
	})
	for _, err := range []error{changed, granted, altered} {
		if err == nil || strings.Contains(err.Error(), "secret marker") {
			t.Errorf("got error %v, want one that does not reveal the panic's value", err)
		}
	}
	Same(t, "push", mustPush(t, e, 1), before)
	wantGrant(t, e, 1, g)
	got(cold.Account(t.Context(), e, id)).of(t)
	change(t, e, before.ID, View)
	got(e.ChangeGrant(t.Context(), g.Digest, slide(time.Minute))).of(t)
}

func refusesABadRule(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	for name, spoil := range map[string]func(*record.Push){
		"another ID":        func(p *record.Push) { p.ID = PushID(2) },
		"an entry too many": func(p *record.Push) { p.Seq += 2 },
		"an entry too few":  func(p *record.Push) { p.Seq-- },
	} {
		_, err := e.Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			spoil(&p)
			return p, record.Entry{Kind: record.EntryView}, nil
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	Same(t, "push", got(Push(t.Context(), e, p.ID)).of(t), p)
}

func scribble(list ...[]byte) {
	for _, b := range list {
		for i := range b {
			b[i] = 0xff
		}
	}
}

// repeatOf is the n-th repeat.
func repeatOf(n byte) record.Repeat {
	return record.Repeat{ID: record.RepeatID{1, 15: n}, At: epoch, Sealed: []byte("sealed url_token")}
}

func createsOnce(t *testing.T, e record.Engine) {
	once := func(n int, repeat byte) error {
		p := LivePush(n, 0)
		entry, r := Creation(p), repeatOf(repeat)
		entry.Repeat = &r
		return Made(e.CreatePush(t.Context(), p, Payload(n), entry))
	}
	Must(t, once(1, 1))
	Same(t, "repeat", got(cold.Repeat(t.Context(), e, repeatOf(1).ID)).of(t), repeatOf(1))
	WantErr(t, once(2, 1), record.ErrExists)
	got(Push(t.Context(), e, PushID(2))).fails(t, record.ErrNotFound)

	id := account(t, e, "owner@example.org") // a create that fails takes no key
	Alter(t, e, id, func(a *record.Account) { a.Disabled = true })
	p, r := LivePush(3, id), repeatOf(3)
	entry := Creation(p)
	entry.Repeat = &r
	WantErr(t, Made(e.CreatePush(t.Context(), p, Payload(3), entry)), record.ErrToken)
	got(cold.Repeat(t.Context(), e, r.ID)).fails(t, record.ErrNotFound)

	errs := make([]error, 8)
	Together(len(errs), func(i int) { errs[i] = once(10+i, 9) })
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
			got(Push(t.Context(), e, PushID(10+i))).of(t)
			continue
		}
		WantErr(t, err, record.ErrExists)
		got(Push(t.Context(), e, PushID(10+i))).fails(t, record.ErrNotFound)
	}
	Same(t, "pushes with one key", made, 1)
}
