package cold_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestEvents(t *testing.T) {
	suite{
		"events are numbered, chained and listed":                   keepsEvents,
		"a change and its event are one step":                       tellsChanges,
		"events have the IDs that were given out":                   tellsIDs,
		"a change that is refused, or changes nothing, is no event": tellsNoRefusals,
		"events that are added at once have a number each":          ordersEvents,
	}.run(t)
}

// happened is the n-th event.
func happened(n int) record.AdminEvent {
	return record.AdminEvent{
		Kind: record.AdminBackup, At: epoch.Add(time.Duration(n) * time.Second), Account: record.AccountID(n), Subject: uint64(n) << 32,
		Digest: [32]byte{1: byte(n)}, Sealed: fmt.Append(nil, "sealed actor ", n),
	}
}

// eventsOf lists all events, whose numbers and chain must be as they should.
func eventsOf(t *testing.T, e record.Engine) []record.AdminEvent {
	t.Helper()
	list, err := cold.AdminEvents(t.Context(), e, 0, 1000)
	must(t, err)
	var before [32]byte
	for i, one := range list {
		if one.Number != uint64(i+1) {
			t.Errorf("event %d has the number %d", i+1, one.Number)
		}
		same(t, "chain", one.Chain, one.Link(before))
		before = one.Chain
	}
	return list
}

// wantLast fails the test unless the newest event has that number.
func wantLast(t *testing.T, e record.Engine, number uint64) {
	t.Helper()
	last, err := cold.LastAdminEvent(t.Context(), e)
	must(t, err)
	same(t, "newest event", last, number)
}

func keepsEvents(t *testing.T, e record.Engine) {
	same(t, "events of a new store", len(eventsOf(t, e)), 0)
	wantLast(t, e, 0)
	for n := range 6 {
		must(t, cold.AddAdminEvent(t.Context(), e, happened(n+1)))
		wantLast(t, e, uint64(n+1))
	}
	all := eventsOf(t, e)
	for i, got := range all {
		want := happened(i + 1)
		want.Number, want.Chain = got.Number, got.Chain
		same(t, "event", got, want)
	}
	for _, c := range []struct {
		after uint64
		limit int
		want  []record.AdminEvent
	}{
		{0, 10, all}, {0, 2, all[:2]}, {2, 2, all[2:4]}, {5, 2, all[5:]}, {6, 2, nil}, {1<<64 - 1, 2, nil}, {0, 0, nil},
	} {
		list, err := cold.AdminEvents(t.Context(), e, c.after, c.limit)
		must(t, err)
		same(t, "events", list, c.want)
	}
	if err := cold.AddAdminEvent(t.Context(), e, record.AdminEvent{}); err == nil {
		t.Error("an event of no kind is kept")
	}
}

// tellsChanges makes each change that comes with an event.
func tellsChanges(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	var token record.TokenID
	var hook record.Hook
	for what, change := range []func(record.AdminEvent) error{
		func(told record.AdminEvent) (err error) {
			token, err = cold.CreateToken(t.Context(), e, conformance.APIToken(1, owner), told)
			return err
		},
		func(told record.AdminEvent) (err error) {
			hook = conformance.Hook(owner)
			hook.ID, err = cold.CreateHook(t.Context(), e, hook, told)
			return err
		},
		func(told record.AdminEvent) error { return cold.SetHook(t.Context(), e, hook, told) },
		func(told record.AdminEvent) error { return cold.RemoveHook(t.Context(), e, owner, hook.ID, told) },
		func(told record.AdminEvent) error { return cold.RemoveToken(t.Context(), e, 0, token, told) },
		func(told record.AdminEvent) error {
			return e.SetKeyRing(t.Context(), []byte("sealed"), conformance.Keys{}, told)
		},
		func(told record.AdminEvent) error {
			_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				return a, record.SessionChange{Begin: conformance.Session(1, false), Most: 1}, told, nil
			})
			return err
		},
		func(told record.AdminEvent) error {
			list, err := cold.Sessions(t.Context(), e, owner, 1)
			if err != nil {
				return err
			}
			return cold.RemoveSession(t.Context(), e, owner, list[0].ID, told)
		},
		func(told record.AdminEvent) error { return cold.RemoveAccount(t.Context(), e, owner, told) },
		func(told record.AdminEvent) error {
			_, err := cold.CreateFirstAccount(t.Context(), e, record.Account{Email: "b@example.org"}, told)
			return err
		},
	} {
		before := len(eventsOf(t, e))
		if err := change(record.AdminEvent{}); err == nil {
			t.Errorf("change %d is made without an event", what)
		}
		same(t, "number of events", len(eventsOf(t, e)), before)
		must(t, change(happened(what)))
		all := eventsOf(t, e)
		same(t, "number of events", len(all), before+1)
		same(t, "event", string(all[before].Sealed), string(happened(what).Sealed))
	}
}

func tellsIDs(t *testing.T, e record.Engine) {
	account(t, e, "first@example.org")
	owner := account(t, e, "a@example.org")
	other, err := cold.CreateToken(t.Context(), e, conformance.APIToken(1, owner), conformance.Told)
	must(t, err)
	token, err := cold.CreateToken(t.Context(), e, conformance.APIToken(2, owner), conformance.Told)
	must(t, err)
	must(t, cold.RemoveToken(t.Context(), e, 0, other, record.AdminEvent{Kind: record.AdminTokenRevoke, At: epoch, Subject: uint64(other)}))
	hook, err := cold.CreateHook(t.Context(), e, conformance.Hook(owner), conformance.Told)
	must(t, err)
	var got [][2]uint64
	for _, one := range eventsOf(t, e)[1:] {
		got = append(got, [2]uint64{uint64(one.Account), one.Subject})
	}
	same(t, "accounts and subjects", got, [][2]uint64{
		{uint64(owner), 0}, {0, uint64(other)}, {0, uint64(token)}, {uint64(owner), uint64(other)}, {0, uint64(hook)},
	})
}

func tellsNoRefusals(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	create(t, e, 1, owner)
	_, err := cold.CreateAccount(t.Context(), e, record.Account{Email: "a@example.org"}, conformance.Told)
	wantErr(t, err, record.ErrExists)
	_, err = cold.CreateFirstAccount(t.Context(), e, record.Account{Email: "b@example.org"}, conformance.Told)
	wantErr(t, err, record.ErrExists)
	wantErr(t, cold.RemoveAccount(t.Context(), e, owner, conformance.Told), record.ErrExists)
	wantErr(t, cold.RemoveSession(t.Context(), e, owner, 1, conformance.Told), record.ErrNotFound)
	wantErr(t, cold.RemoveToken(t.Context(), e, 0, 1, conformance.Told), record.ErrNotFound)
	wantErr(t, cold.RemoveHook(t.Context(), e, owner, 1, conformance.Told), record.ErrNotFound)
	wantErr(t, cold.SetHook(t.Context(), e, conformance.Hook(owner), conformance.Told), record.ErrNotFound)
	for _, c := range []error{nil, errors.New("no")} {
		_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			if c != nil {
				a.Disabled = true
			}
			return a, record.SessionChange{Revoke: record.RevokeOthers}, conformance.Told, c
		})
		wantErr(t, err, c)
	}
	same(t, "number of events", len(eventsOf(t, e)), 1)
}

func ordersEvents(t *testing.T, e record.Engine) {
	const many = 50
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			if err := cold.AddAdminEvent(t.Context(), e, happened(n)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	same(t, "number of events", len(eventsOf(t, e)), many)
}
