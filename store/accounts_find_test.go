package store_test

import (
	"fmt"
	"testing"

	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A list of accounts is complete, however many of its numbers no longer have an account.
func TestAccountsAreListedInParts(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, listsAccountsInParts)
}

func listsAccountsInParts(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine)
	want := map[record.AccountID]bool{}
	for i := range 2*store.PageSize + 20 {
		address := fmt.Sprintf("user%03d@example.com", i)
		one := f.Account(address)
		if want[one.Account] = true; i%7 == 3 {
			if err := f.RemoveAccount(ctx, storetest.Operator, address); err != nil {
				t.Fatal(err)
			}
			delete(want, one.Account)
		}
	}
	parts, last, before := 0, record.AccountID(1<<63), record.AccountID(0)
	for {
		list, rest, err := f.FindAccounts(ctx, "", before)
		if err != nil || len(list) > store.PageSize {
			t.Fatalf("%d accounts, %v", len(list), err)
		}
		for _, a := range list {
			if a.ID >= last || !want[a.ID] {
				t.Errorf("account %d after %d", a.ID, last)
			}
			last = a.ID
			delete(want, a.ID)
		}
		if parts++; rest == 0 {
			break
		}
		before = rest
	}
	if parts != 3 || len(want) != 0 {
		t.Errorf("%d parts, without %v", parts, want)
	}
	found, rest, err := f.FindAccounts(ctx, " USER11", 0)
	if err != nil || rest != 0 || len(found) != 9 || found[0].Email != "user119@example.com" {
		t.Errorf("%d found, %d, %v", len(found), rest, err)
	}
	ann := f.Account("ann@example.com")
	storetest.PushFiles(t, f, ann, nil, storetest.Content(1, 1000))
	rooms, err := f.AccountRooms(ctx, []record.AccountID{ann.Account, 1, 999})
	if err != nil || len(rooms) != 1 || rooms[ann.Account].Pushes != 1 {
		t.Errorf("they take %v, %v", rooms, err)
	}
}
