package conformance

import (
	"errors"
	"fmt"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var tableSuite = suite{
	"records are kept, found by each key, and listed in the order of each": listsRecords,
	"a change happens as a whole or not at all":                            undoesChanges,
	"changes at the same time are one after the other":                     ordersChanges,
	"records are touched where they are still there":                       touchesRecords,
	"an account is not removed while a push is created for it":             ordersOwnership,
}

// put keeps records in one step.
func put(t *testing.T, e record.Engine, of *record.Table, all ...record.Record) {
	t.Helper()
	Must(t, e.Update(t.Context(), func(x record.Tx) error {
		for _, r := range all {
			if _, err := x.Get(of, r.Key()); err != nil && !errors.Is(err, record.ErrNotFound) {
				return err
			}
			if err := x.Put(of, r); err != nil {
				return err
			}
		}
		return nil
	}))
}

// requests are live and ended requests of two owners, in the order of their IDs.
func requests() (all []record.Record) {
	for n := range 12 {
		r := RequestOf(n, record.AccountID(n%2+1), 1)
		if n%3 == 0 {
			r.EndedAt = epoch
		}
		all = append(all, r)
	}
	return all
}

func listsRecords(t *testing.T, e record.Engine) {
	account(t, e, "a@example.org")
	account(t, e, "b@example.org")
	all, table := requests(), record.Requests.Table
	put(t, e, table, all...)
	put(t, e, table, all...) // again, which changes nothing
	look := func(r record.Range, want ...int) {
		t.Helper()
		got := []int{}
		Must(t, e.View(t.Context(), func(v record.View) error {
			got = got[:0]
			list, err := v.List(table, r)
			for _, one := range list {
				for n := range all {
					if one.Title() == all[n].Title() {
						Same(t, "record", one, all[n])
						got = append(got, n)
					}
				}
			}
			return err
		}))
		Same(t, fmt.Sprintf("records of %+v", r), got, append([]int{}, want...))
	}
	of := record.RequestsByOwner
	live, over := record.OwnedRequests(1, true), record.OwnedRequests(1, false)
	look(record.Range{Limit: 99}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	look(record.Range{Limit: 2}, 0, 1)
	look(record.Range{Skip: 10, Limit: 9}, 10, 11)
	look(record.Range{After: all[3].Key(), Skip: 1, Limit: 2}, 5, 6)
	look(record.Range{After: all[3].Key(), Reverse: true, Limit: 9}, 2, 1, 0)
	look(record.Range{Reverse: true, Limit: 1}, 11)
	look(record.Range{By: of, Prefix: live, Limit: 9}, 2, 4, 8, 10)
	look(record.Range{By: of, Prefix: over, Limit: 9}, 0, 6)
	look(record.Range{By: of, Prefix: live, After: of.Keys(all[4])[0], Limit: 9}, 8, 10)
	look(record.Range{By: of, Prefix: live, After: of.Keys(all[8])[0], Reverse: true, Limit: 9}, 4, 2)
	look(record.Range{By: of, Prefix: record.NumberKey(1), Reverse: true, Limit: 3}, 10, 8, 4)
	look(record.Range{By: of, Prefix: record.NumberKey(3), Limit: 9})
	look(record.Range{Limit: 0})

	ended, _, err := EndRequest(all[2].(record.Request))
	Must(t, err)
	put(t, e, table, ended)
	all[2] = ended
	look(record.Range{By: of, Prefix: live, Limit: 9}, 4, 8, 10)
	look(record.Range{By: of, Prefix: over, Limit: 9}, 0, 2, 6)
	Must(t, e.Update(t.Context(), func(x record.Tx) error {
		return x.Delete(table, got(x.Get(table, all[4].Key())).of(t))
	}))
	look(record.Range{By: of, Prefix: live, Limit: 9}, 8, 10)
	Must(t, e.View(t.Context(), func(v record.View) error {
		got(v.Get(table, all[4].Key())).fails(t, record.ErrNotFound)
		one := got(v.Find(record.Accounts.Table, record.AccountsByEmail, []byte("b@example.org"))).of(t)
		Same(t, "account", one.(record.Account).ID, record.AccountID(2))
		got(v.Find(record.Accounts.Table, record.AccountsByEmail, []byte("b@example.or"))).fails(t, record.ErrNotFound)
		return nil
	}))
}

func undoesChanges(t *testing.T, e record.Engine) {
	account(t, e, "a@example.org")
	refusal := errors.New("no")
	WantErr(t, e.Update(t.Context(), func(x record.Tx) error {
		Must(t, x.Put(record.Requests.Table, RequestOf(1, 1, 1)))
		got(x.Next(record.Tokens.Table)).of(t)
		Must(t, x.Tell(Told))
		return refusal
	}), refusal)
	Must(t, e.View(t.Context(), func(v record.View) error {
		got(v.Get(record.Requests.Table, RequestOf(1, 1, 1).Key())).fails(t, record.ErrNotFound)
		Same(t, "last number of a token", got(v.Last(record.Tokens.Table)).of(t), uint64(0))
		Same(t, "last number of an event", got(v.Last(record.AdminEvents.Table)).of(t), uint64(1)) // of the account
		return nil
	}))
}

func ordersChanges(t *testing.T, e record.Engine) {
	id := account(t, e, "a@example.org")
	const changes = 20
	Together(changes, func(int) {
		err := e.Update(t.Context(), func(x record.Tx) error {
			a, err := record.Accounts.Get(x, record.NumberKey(uint64(id)))
			a.TOTPStep++
			return errors.Join(err, x.Put(record.Accounts.Table, a), x.Tell(Told))
		})
		if err != nil {
			t.Error(err)
		}
	})
	Same(t, "changes", int(got(cold.Account(t.Context(), e, id)).of(t).TOTPStep), changes)
}

func touchesRecords(t *testing.T, e record.Engine) {
	account(t, e, "a@example.org")
	put(t, e, record.Requests.Table, RequestOf(1, 1, 1), RequestOf(2, 1, 1))
	keys := [][]byte{RequestOf(1, 1, 1).Key(), RequestOf(2, 1, 1).Key(), RequestOf(3, 1, 1).Key()}
	touch := func(want int, wantErr error, change func(record.Request) record.Record) {
		t.Helper()
		n, err := e.Touch(t.Context(), record.Requests.Table, keys, func(r record.Record) (record.Record, error) {
			return change(r.(record.Request)), wantErr
		})
		if n != want || !errors.Is(err, wantErr) {
			t.Errorf("%d records, %v", n, err)
		}
	}
	refusal := errors.New("no")
	touch(2, nil, func(r record.Request) record.Record { r.Views++; return r })
	touch(0, refusal, func(record.Request) record.Record { return nil })
	touch(2, nil, func(r record.Request) record.Record {
		if Same(t, "views", r.Views, 4); r.ID == RequestOf(1, 1, 1).ID {
			return nil
		}
		return r
	})
	touch(1, nil, func(r record.Request) record.Record { return r })
}
