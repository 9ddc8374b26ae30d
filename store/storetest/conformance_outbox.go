package storetest

import (
	"testing"
	"time"

	"pushbox/store"
)

// hookOf is a webhook of an account, without the ID that it will get.
func hookOf(owner store.AccountID) store.Hook {
	return store.Hook{Owner: owner, CreatedAt: epoch, Events: store.NewEventSet(store.EventView), Sealed: []byte("sealed address")}
}

// keepHook keeps a webhook and returns it.
func keepHook(t *testing.T, e store.Engine, owner store.AccountID) store.Hook {
	t.Helper()
	h := hookOf(owner)
	id, err := e.CreateHook(t.Context(), h)
	must(t, err)
	h.ID = id
	return h
}

// allHooks lists webhooks in steps of two.
func allHooks(t *testing.T, e store.Engine) (all []store.Hook) {
	t.Helper()
	for {
		var last store.Hook
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		list, err := e.Hooks(t.Context(), last.Owner, last.ID, 2)
		must(t, err)
		all = append(all, list...)
		if len(list) < 2 {
			return all
		}
	}
}

func keepsHooks(t *testing.T, e store.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	same(t, "webhooks of a new engine", allHooks(t, e), []store.Hook(nil))
	first, other, second := keepHook(t, e, ann), keepHook(t, e, bob), keepHook(t, e, ann)
	same(t, "webhooks", allHooks(t, e), []store.Hook{first, second, other})
	second.Disabled, second.Events = true, store.NewEventSet(store.EventExpire, store.EventView)
	must(t, e.SetHook(t.Context(), second))
	same(t, "webhooks after one was changed", allHooks(t, e), []store.Hook{first, second, other})
	second.Owner = bob
	wantErr(t, e.SetHook(t.Context(), second), store.ErrNotFound)
	scribble(allHooks(t, e)[0].Sealed)
	same(t, "webhook after its copy was changed", allHooks(t, e)[0], first)
}

func refusesAHook(t *testing.T, e store.Engine) {
	_, err := e.CreateHook(t.Context(), hookOf(7))
	wantErr(t, err, store.ErrToken)
	owner := account(t, e, "a@example.org")
	_, err = e.ChangeAccount(t.Context(), owner, store.SessionDigest{}, func(a store.Account) (store.Account, store.Turnover, error) {
		a.Disabled = true
		return a, store.Turnover{}, nil
	})
	must(t, err)
	_, err = e.CreateHook(t.Context(), hookOf(owner))
	wantErr(t, err, store.ErrToken)
	same(t, "webhooks", allHooks(t, e), []store.Hook(nil))
}

func removesHooks(t *testing.T, e store.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	first, other := keepHook(t, e, ann), keepHook(t, e, bob)
	wantErr(t, e.RemoveHook(t.Context(), bob, first.ID), store.ErrNotFound)
	must(t, e.RemoveHook(t.Context(), ann, first.ID))
	wantErr(t, e.RemoveHook(t.Context(), ann, first.ID), store.ErrNotFound)
	if again := keepHook(t, e, ann); again.ID <= other.ID {
		t.Errorf("webhook %d came after %d", again.ID, other.ID)
	}
	must(t, e.RemoveAccount(t.Context(), ann))
	same(t, "webhooks after their account was removed", allHooks(t, e), []store.Hook{other})
}

func skipNone(store.Message) bool { return false }

// messageAt is a message that is tried n minutes after epoch, without the number that
// it will get.
func messageAt(n int) store.Message {
	at := epoch.Add(time.Duration(n) * time.Minute)
	return store.Message{Route: store.ByWebhook, To: uint64(n), CreatedAt: at, NextAt: at, Sealed: []byte("sealed notice")}
}

// telling counts a view that is told of by messages.
func telling(ms ...store.Message) store.Rule {
	return func(p store.Push) (store.Push, store.Entry, error) {
		next, entry, err := view(p)
		if err == nil {
			entry.Messages = ms
		}
		return next, entry, err
	}
}

// wantMessages fails the test unless these are the messages due n minutes after epoch, by
// whom they go to, and the next one is that many after epoch; -1: there is none.
func wantMessages(t *testing.T, e store.Engine, n, next int, to ...uint64) []store.Message {
	t.Helper()
	due, then, err := e.DueMessages(t.Context(), epoch.Add(time.Duration(n)*time.Minute), skipNone, 100)
	must(t, err)
	var got []uint64
	for _, m := range due {
		got = append(got, m.To)
	}
	same(t, "messages due", got, to)
	var want time.Time
	if next >= 0 {
		want = epoch.Add(time.Duration(next) * time.Minute)
	}
	if !then.Equal(want) {
		t.Errorf("the next one is due at %v, not %v", then, want)
	}
	return due
}

func wantWaiting(t *testing.T, e store.Engine, want int) {
	t.Helper()
	n, err := e.CountMessages(t.Context())
	must(t, err)
	same(t, "messages waiting", n, want)
}

func ordersMessages(t *testing.T, e store.Engine) {
	wantMessages(t, e, 100, -1)
	create(t, e, 1, 0)
	c := change(t, e, pushID(1), telling(messageAt(3), messageAt(1), messageAt(2), messageAt(1)))
	same(t, "messages kept", len(c.Entry.Messages), 4)
	wantMessages(t, e, 0, 1)
	due := wantMessages(t, e, 2, 3, 1, 1, 2)
	if due[0].Number >= due[1].Number || due[0].Number == 0 {
		t.Errorf("the numbers are %d and %d", due[0].Number, due[1].Number)
	}
	want := messageAt(1)
	want.Number = due[0].Number
	same(t, "message", due[0], want)
	scribble(due[0].Sealed)
	same(t, "message after its copy was changed", wantMessages(t, e, 1, 2, 1, 1)[0], want)
	wantMessages(t, e, 3, -1, 1, 1, 2, 3)
	wantWaiting(t, e, 4)

	odd := func(m store.Message) bool { return m.To%2 == 1 }
	list, next, err := e.DueMessages(t.Context(), epoch.Add(time.Hour), odd, 100)
	must(t, err)
	if len(list) != 1 || list[0].To != 2 || !next.IsZero() {
		t.Errorf("those that are not skipped are %+v, then %v", list, next)
	}
	list, next, err = e.DueMessages(t.Context(), epoch.Add(time.Hour), skipNone, 2)
	must(t, err)
	if len(list) != 2 || !next.Equal(epoch.Add(2*time.Minute)) {
		t.Errorf("the first two are %+v, then %v", list, next)
	}
	if _, _, err := e.DueMessages(t.Context(), epoch.Add(time.Hour), func(store.Message) bool { panic("no") }, 9); err == nil {
		t.Error("a panic was no error")
	}
}

func tellsOfChanges(t *testing.T, e store.Engine) {
	p := livePush(1, 0)
	entry := creation(p)
	entry.Messages = []store.Message{messageAt(1)}
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	wantErr(t, e.CreatePush(t.Context(), p, payloadOf(1), entry), store.ErrExists)
	wantWaiting(t, e, 1)
	for range p.ViewLimit {
		change(t, e, p.ID, telling(messageAt(2), messageAt(3)))
	}
	_, err := e.Change(t.Context(), p.ID, telling(messageAt(4)))
	wantErr(t, err, errLimit)
	_, err = e.Change(t.Context(), pushID(2), telling(messageAt(4)))
	wantErr(t, err, store.ErrNotFound)
	wantWaiting(t, e, 1+2*p.ViewLimit)
	change(t, e, p.ID, purge)
	wantWaiting(t, e, 1+2*p.ViewLimit)
}

func retriesMessages(t *testing.T, e store.Engine) {
	create(t, e, 1, 0)
	change(t, e, pushID(1), telling(messageAt(1), messageAt(2)))
	first := wantMessages(t, e, 1, 2, 1)[0]
	later := epoch.Add(5 * time.Minute)
	must(t, e.RetryMessage(t.Context(), first, later))
	wantErr(t, e.RetryMessage(t.Context(), first, later), store.ErrNotFound)
	wantMessages(t, e, 4, 5, 2)
	again := wantMessages(t, e, 5, -1, 2, 1)[1]
	want := first
	want.NextAt, want.Attempts = later, 1
	same(t, "message that was put off", again, want)
	n, err := e.EndMessages(t.Context(), []store.Message{first})
	must(t, err)
	same(t, "messages that ended by what they were", n, 0)
	wantWaiting(t, e, 2)
}

func endsMessages(t *testing.T, e store.Engine) {
	create(t, e, 1, 0)
	change(t, e, pushID(1), telling(messageAt(1), messageAt(2), messageAt(3)))
	due := wantMessages(t, e, 9, -1, 1, 2, 3)
	n, err := e.EndMessages(t.Context(), due[:2])
	must(t, err)
	same(t, "messages that ended", n, 2)
	n, err = e.EndMessages(t.Context(), due)
	must(t, err)
	same(t, "messages that ended after that", n, 1)
	wantWaiting(t, e, 0)
	wantErr(t, e.RetryMessage(t.Context(), due[0], epoch), store.ErrNotFound)
	change(t, e, pushID(1), telling(messageAt(1)))
	if m := wantMessages(t, e, 9, -1, 1)[0]; m.Number <= due[2].Number {
		t.Errorf("message %d came after %d", m.Number, due[2].Number)
	}
}

// Views with messages and views without are counted alike, however they follow each
// other.
func viewsWithMessages(t *testing.T, e store.Engine) {
	p := livePush(1, 0)
	p.ViewLimit = 1000
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)))
	for n := range 100 {
		r := telling()
		if n%3 == 0 {
			r = telling(messageAt(n))
		}
		change(t, e, p.ID, r)
	}
	got, err := e.Push(t.Context(), p.ID)
	must(t, err)
	same(t, "views", got.Views, 100)
	entries, err := e.Entries(t.Context(), p.ID, 0, 1000)
	must(t, err)
	same(t, "entries", len(entries), 101)
	wantWaiting(t, e, 34)
}
