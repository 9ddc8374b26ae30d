package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var pushSuite = suite{
	"a push is kept with its payload and first entry":                 keepsAPush,
	"a push with an ID in use is refused":                             refusesATakenID,
	"a push of an owner who may not act is refused":                   refusesAnOwner,
	"a missing push, account, session or token is not found":          findsNothing,
	"a change is applied with its entry":                              appliesAChange,
	"a count of wrong passphrases and a freeze are kept":              keepsAFreeze,
	"a push gets other details, which stay when it ends":              keepsDetails,
	"a change without an entry appends none":                          appliesASilentChange,
	"a rule that changes nothing writes nothing":                      leavesAlone,
	"an error of a rule is returned and changes nothing":              returnsRuleErrors,
	"without space, dispensable entries are left out":                 leavesEntriesOut,
	"a rule that panics changes nothing":                              survivesAPanic,
	"a rule that breaks the rules is refused":                         refusesABadRule,
	"a push that ends loses its payload":                              destroysPayloads,
	"a purged push is removed with all its rows":                      purges,
	"results are copies":                                              returnsCopies,
	"a new push may have two entries":                                 createsWithTwoEntries,
	"pushes are found by their IDs, in that order":                    findsByID,
	"an owner's pushes are listed newest first":                       listsPushes,
	"pushes move between the lists":                                   movesBetweenLists,
	"entries are listed oldest first":                                 listsEntries,
	"due pushes are listed earliest first":                            listsDue,
	"each expiry queue has its own rows":                              separatesQueues,
	"a scan finds every push":                                         scansEverything,
	"views at the same time never pass the limit":                     countsConcurrently,
	"operations that fail do not affect operations of the same batch": isolatesFailures,
}

func keepsAPush(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
	entries, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(p)})
	sized, size, err := e.PushAndSize(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", sized, p)
	Same(t, "size of the payload", size, len(payloadOf(1)))
	Same(t, "payload", change(t, e, p.ID, end(record.Expired)).Payload, payloadOf(1))
	_, size, err = e.PushAndSize(t.Context(), p.ID)
	Must(t, err)
	Same(t, "size of no payload", size, 0)
}

func findsByID(t *testing.T, e record.Engine) {
	owner := account(t, e, "owner@example.org")
	first, second := create(t, e, 1, owner), create(t, e, 2, 0)
	seen, gone := change(t, e, first.ID, view).Push, create(t, e, 3, owner)
	change(t, e, gone.ID, purge)
	list, err := e.PushesByID(t.Context(), []record.ID{second.ID, pushID(9), gone.ID, seen.ID})
	Must(t, err)
	Same(t, "pushes", list, []record.Push{second, seen})
	list, err = e.PushesByID(t.Context(), nil)
	Must(t, err)
	Same(t, "number of pushes", len(list), 0)
}

func refusesATakenID(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	second := livePush(1, 0)
	second.ViewLimit = 99
	WantErr(t, e.CreatePush(t.Context(), second, []byte("another"), creation(second)), record.ErrExists)
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "first push", got, p)
	Same(t, "its payload", change(t, e, p.ID, fail).Payload, payloadOf(1))
}

func refusesAnOwner(t *testing.T, e record.Engine) {
	id := account(t, e, "owner@example.org")
	for name, c := range map[string]struct {
		owner  record.AccountID
		change func(*record.Account)
	}{
		"unknown":  {id + 1, func(*record.Account) {}},
		"disabled": {id, func(a *record.Account) { a.Disabled, a.Removing = true, false }},
		"removing": {id, func(a *record.Account) { a.Disabled, a.Removing = false, true }},
	} {
		Alter(t, e, id, c.change)
		p := livePush(1, c.owner)
		if err := e.CreatePush(t.Context(), p, payloadOf(1), creation(p)); !errors.Is(err, record.ErrToken) {
			t.Errorf("%s owner: got error %v, want %v", name, err, record.ErrToken)
		}
		_, err := e.Push(t.Context(), p.ID)
		WantErr(t, err, record.ErrNotFound)
	}
	Alter(t, e, id, func(a *record.Account) { a.Disabled, a.Removing = false, false })
	create(t, e, 1, id)
}

func findsNothing(t *testing.T, e record.Engine) {
	create(t, e, 2, 0)
	id := pushID(1)
	_, err := e.Push(t.Context(), id)
	WantErr(t, err, record.ErrNotFound)
	_, _, err = e.PushAndSize(t.Context(), id)
	WantErr(t, err, record.ErrNotFound)
	c, err := e.Change(t.Context(), id, func(p record.Push) (record.Push, record.Entry, error) {
		t.Error("a rule was asked about a push that does not exist")
		return p, record.Entry{}, nil
	})
	WantErr(t, err, record.ErrNotFound)
	Same(t, "change", c, record.Change{})
	entries, err := e.Entries(t.Context(), id, 0, 10)
	Must(t, err)
	Same(t, "number of entries", len(entries), 0)
}

func appliesAChange(t *testing.T, e record.Engine) {
	p := create(t, e, 1, account(t, e, "owner@example.org"))
	want, entry, _ := view(p)
	c := change(t, e, p.ID, view)
	Same(t, "change", c, record.Change{Push: want, Entry: entry, Payload: payloadOf(1)})
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, want)
	entries, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(p), entry})
}

func keepsAFreeze(t *testing.T, e record.Engine) {
	p := create(t, e, 1, account(t, e, "owner@example.org"))
	for n := range 3 {
		change(t, e, p.ID, view)
		want := change(t, e, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			p, entry, err := fail(p)
			p.Failed++
			if n == 1 {
				p.Frozen, p.Minor, entry.Kind = true, p.Minor-1, record.EntryFreeze
			}
			return p, entry, err
		}).Push
		got, err := e.Push(t.Context(), p.ID)
		Must(t, err)
		Same(t, "push", got, want)
		Same(t, "wrong passphrases", got.Failed, n+1)
		Same(t, "frozen", got.Frozen, n >= 1)
	}
}

func keepsDetails(t *testing.T, e record.Engine) {
	p := create(t, e, 1, account(t, e, "owner@example.org"))
	for _, details := range [][]byte{[]byte("sealed anew, and longer than before"), nil, []byte("short")} {
		change(t, e, p.ID, view)
		want := change(t, e, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			p, entry, err := fail(p)
			p.Details, entry.Kind = details, record.EntryEdit
			return p, entry, err
		}).Push
		got, err := e.Push(t.Context(), p.ID)
		Must(t, err)
		Same(t, "push", got, want)
		Same(t, "details", string(got.Details), string(details))
	}
	Same(t, "details of the ended push", string(change(t, e, p.ID, end(record.Deleted)).Push.Details), "short")
}

func appliesASilentChange(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	note := record.Entry{Kind: record.EntryView, At: epoch}
	c := change(t, e, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		p.Details = []byte("other details")
		return p, note, nil
	})
	Same(t, "entry of the rule", c.Entry, note)
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "details", string(got.Details), "other details")
	entries, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	Same(t, "number of entries", len(entries), 1)
}

func leavesAlone(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	c := change(t, e, p.ID, leave)
	Same(t, "change", c, record.Change{Push: p, Payload: payloadOf(1)})
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
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
	change(t, e, p.ID, view)
	e.SetSpaceLimits(record.SpaceLimits{})
	change(t, e, p.ID, fail)
	log, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	var kinds []record.EntryKind
	for _, one := range log {
		kinds = append(kinds, one.Kind)
	}
	Same(t, "entries", kinds, []record.EntryKind{record.EntryCreation, record.EntryFailedView, record.EntryView, record.EntryFailedView})
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "minor entries", got.Minor, uint32(2))
}

func returnsRuleErrors(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	refusal := errors.New("no")
	c, err := e.Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		next, entry, _ := view(p)
		return next, entry, refusal
	})
	if err != refusal { //nolint:errorlint // it must be the same error
		t.Errorf("got error %v, want %v", err, refusal)
	}
	Same(t, "change", c, record.Change{})
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
}

func survivesAPanic(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	_, err := e.Change(t.Context(), p.ID, func(record.Push) (record.Push, record.Entry, error) {
		panic("a secret marker")
	})
	if err == nil || strings.Contains(err.Error(), "secret marker") {
		t.Errorf("got error %v, want one that does not reveal the panic's value", err)
	}
	id := account(t, e, "a@example.org")
	_, err = cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		var none []int
		return record.Account{Disabled: none[len(none)] == 0}, record.SessionChange{}, Told, nil
	})
	if err == nil {
		t.Error("a rule that panicked returned no error")
	}
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
	change(t, e, p.ID, view)
}

func refusesABadRule(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	for name, spoil := range map[string]func(*record.Push){
		"another ID":        func(p *record.Push) { p.ID = pushID(2) },
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
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
}

func destroysPayloads(t *testing.T, e record.Engine) {
	p := create(t, e, 1, 0)
	for range p.ViewLimit {
		c := change(t, e, p.ID, view)
		Same(t, "payload before", c.Payload, payloadOf(1))
	}
	c := change(t, e, p.ID, fail)
	if c.Push.Live() || c.Payload != nil {
		t.Errorf("after the last view: state %d, payload %q", c.Push.State, c.Payload)
	}
}

func purges(t *testing.T, e record.Engine) {
	owner := account(t, e, "owner@example.org")
	stays := create(t, e, 1, owner)
	for n, before := range map[int]record.Rule{2: fail, 3: end(record.Expired), 4: end(record.Deleted)} {
		p := create(t, e, n, owner)
		change(t, e, p.ID, before)
		Same(t, "state", change(t, e, p.ID, purge).Push.State, record.Purged)
		_, err := e.Push(t.Context(), p.ID)
		WantErr(t, err, record.ErrNotFound)
		_, err = e.Change(t.Context(), p.ID, purge)
		WantErr(t, err, record.ErrNotFound)
		entries, err := e.Entries(t.Context(), p.ID, 0, 10)
		Must(t, err)
		Same(t, "number of entries", len(entries), 0)
		all, err := e.Scan(t.Context(), record.ID{}, 10)
		Must(t, err)
		Same(t, "still there", slices.ContainsFunc(all, func(q record.Push) bool { return q.ID == p.ID }), false)
	}
	for _, live := range []bool{true, false} {
		list, err := e.Pushes(t.Context(), owner, live, record.ID{}, 0, 10)
		Must(t, err)
		for _, p := range list {
			Same(t, "the push that stays", p, stays)
		}
	}
	create(t, e, 2, 0)
}

func returnsCopies(t *testing.T, e record.Engine) {
	p := livePush(1, 0)
	payload, entry := payloadOf(1), creation(p)
	Must(t, e.CreatePush(t.Context(), p, payload, entry))
	scribble(p.Wrap, p.Link, p.Details, payload, entry.Sealed)

	want := livePush(1, 0)
	got, err := e.Push(t.Context(), want.ID)
	Must(t, err)
	Same(t, "push", got, want)
	scribble(got.Wrap, got.Link, got.Details)

	c := change(t, e, want.ID, func(p record.Push) (record.Push, record.Entry, error) {
		scribble(p.Wrap)
		p.Wrap = append([]byte(nil), want.Wrap...)
		return p, record.Entry{}, nil
	})
	Same(t, "payload", c.Payload, payloadOf(1))
	scribble(c.Payload, c.Push.Wrap, c.Push.Link, c.Push.Details)
	Same(t, "payload", change(t, e, want.ID, leave).Payload, payloadOf(1))

	entries, err := e.Entries(t.Context(), want.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(want)})
	scribble(entries[0].Sealed)
	entries, err = e.Entries(t.Context(), want.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(want)})
	got, err = e.Push(t.Context(), want.ID)
	Must(t, err)
	Same(t, "push", got, want)
}

func scribble(list ...[]byte) {
	for _, b := range list {
		for i := range b {
			b[i] = 0xff
		}
	}
}
