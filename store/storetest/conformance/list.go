package conformance

import (
	"testing"
	"time"

	"pushbox/store/record"
)

func ids(list []record.Push) (ids []record.ID) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

func pushIDs(numbers ...int) (ids []record.ID) {
	for _, n := range numbers {
		ids = append(ids, pushID(n))
	}
	return ids
}

func listsPushes(t *testing.T, e record.Engine) {
	first, second, third := account(t, e, "a@example.org"), account(t, e, "b@example.org"), account(t, e, "c@example.org")
	for n := range 9 {
		create(t, e, n, []record.AccountID{first, second, 0}[n%3])
	}
	change(t, e, pushID(3), end(record.Expired))
	for _, c := range []struct {
		owner       record.AccountID
		live        bool
		skip, limit int
		want        []record.ID
	}{
		{first, true, 0, 10, pushIDs(6, 0)},
		{first, true, 0, 1, pushIDs(6)},
		{first, true, 1, 1, pushIDs(0)},
		{first, true, 1, 10, pushIDs(0)},
		{first, true, 2, 10, nil},
		{first, true, 0, 0, nil},
		{first, false, 0, 10, pushIDs(3)},
		{second, true, 0, 10, pushIDs(7, 4, 1)},
		{second, false, 0, 10, nil},
		{third, true, 0, 10, nil},
		{third + 1, true, 0, 10, nil},
		{1<<64 - 1, true, 0, 10, nil},
	} {
		list, err := e.Pushes(t.Context(), c.owner, c.live, record.ID{}, c.skip, c.limit)
		Must(t, err)
		Same(t, "IDs", ids(list), c.want)
		if c.skip == 0 {
			n, err := e.CountPushes(t.Context(), c.owner, c.live, c.limit)
			Must(t, err)
			Same(t, "count", n, len(c.want))
		}
	}
	list, err := e.Pushes(t.Context(), second, true, record.ID{}, 2, 1)
	Must(t, err)
	Same(t, "push", list, []record.Push{livePush(1, second)})
	for _, c := range []struct {
		before      int
		skip, limit int
		want        []record.ID
	}{
		{8, 0, 10, pushIDs(7, 4, 1)},
		{7, 0, 10, pushIDs(4, 1)},
		{5, 0, 10, pushIDs(4, 1)}, // which is another's
		{7, 1, 10, pushIDs(1)},
		{7, 0, 1, pushIDs(4)},
		{1, 0, 10, nil},
		{0, 0, 10, nil},
	} {
		list, err := e.Pushes(t.Context(), second, true, pushID(c.before), c.skip, c.limit)
		Must(t, err)
		Same(t, "IDs", ids(list), c.want)
	}
}

func movesBetweenLists(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	create(t, e, 1, owner)
	create(t, e, 2, owner)
	want := func(live bool, want []record.ID) {
		t.Helper()
		list, err := e.Pushes(t.Context(), owner, live, record.ID{}, 0, 10)
		Must(t, err)
		Same(t, "IDs", ids(list), want)
	}
	change(t, e, pushID(1), end(record.Deleted))
	want(true, pushIDs(2))
	want(false, pushIDs(1))
	change(t, e, pushID(2), end(record.Expired))
	want(true, nil)
	want(false, pushIDs(2, 1))
	change(t, e, pushID(2), purge)
	want(false, pushIDs(1))
}

func listsEntries(t *testing.T, e record.Engine) {
	p, other := create(t, e, 1, 0), create(t, e, 2, 0)
	all := []record.Entry{creation(p)}
	for _, r := range []record.Rule{view, fail, view, fail} {
		all = append(all, change(t, e, p.ID, r).Entry)
		change(t, e, other.ID, r)
	}
	for _, c := range []struct{ skip, limit, from, to int }{
		{0, 10, 0, 5},
		{0, 5, 0, 5},
		{0, 4, 0, 4},
		{2, 2, 2, 4},
		{4, 10, 4, 5},
		{5, 10, 5, 5},
		{6, 10, 5, 5},
		{0, 0, 0, 0},
		{1 << 30, 1, 5, 5},
	} {
		got, err := e.Entries(t.Context(), p.ID, c.skip, c.limit)
		Must(t, err)
		if len(got) != c.to-c.from {
			t.Errorf("skip %d, limit %d: %d entries, want %d", c.skip, c.limit, len(got), c.to-c.from)
			continue
		}
		for i, entry := range got {
			Same(t, "entry", entry, all[c.from+i])
		}
	}
}

func listsDue(t *testing.T, e record.Engine) {
	// In this order they end, an hour and a millisecond apart.
	for _, n := range []int{3, 1, 4, 2} {
		create(t, e, n, 0)
	}
	at := func(n int) time.Time { return livePush(n, 0).ExpiresAt }
	for _, c := range []struct {
		until time.Time
		limit int
		want  []record.ID
		next  time.Time
	}{
		{at(1).Add(-time.Millisecond), 10, nil, at(1)},
		{at(1), 10, pushIDs(1), at(2)},
		{at(3), 10, pushIDs(1, 2, 3), at(4)},
		{at(3), 2, pushIDs(1, 2), at(3)},
		{at(3), 0, nil, at(1)},
		{at(4), 4, pushIDs(1, 2, 3, 4), time.Time{}},
		{at(9), 10, pushIDs(1, 2, 3, 4), time.Time{}},
		{time.Time{}, 10, nil, at(1)},
	} {
		due, next, err := e.Due(t.Context(), record.Expiring, c.until, c.limit)
		Must(t, err)
		Same(t, "due", due, c.want)
		Same(t, "next", next, c.next)
	}
}

func separatesQueues(t *testing.T, e record.Engine) {
	create(t, e, 1, 0)
	create(t, e, 2, 0)
	create(t, e, 3, account(t, e, "a@example.org"))
	change(t, e, pushID(2), end(record.Expired))
	change(t, e, pushID(3), end(record.Deleted))
	for queue, want := range map[record.ExpiryQueue]int{record.Expiring: 1, record.ExpiredAnon: 2, record.ExpiredOwned: 3} {
		due, next, err := e.Due(t.Context(), queue, epoch.AddDate(1, 0, 0), 10)
		Must(t, err)
		Same(t, "due", due, pushIDs(want))
		Same(t, "next", next, time.Time{})
		p, err := e.Push(t.Context(), pushID(want))
		Must(t, err)
		_, when := p.ExpiryQueue()
		_, next, err = e.Due(t.Context(), queue, epoch.AddDate(-1, 0, 0), 10)
		Must(t, err)
		Same(t, "time", next, when)
	}
}

func scansEverything(t *testing.T, e record.Engine) {
	var made []record.Push
	for n := range 5 {
		made = append(made, create(t, e, 10*(n+1), 0))
	}
	for _, c := range []struct{ after, limit, first, count int }{
		{0, 9, 0, 5},
		{9, 9, 0, 5},
		{10, 9, 1, 4},
		{11, 2, 1, 2},
		{40, 1, 4, 1},
		{50, 9, 0, 0},
		{0, 0, 0, 0},
	} {
		list, err := e.Scan(t.Context(), pushID(c.after), c.limit)
		Must(t, err)
		Same(t, "number of pushes", len(list), c.count)
		for i, p := range list {
			Same(t, "push", p, made[c.first+i])
		}
	}
}
