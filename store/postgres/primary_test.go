package postgres_test

import (
	"errors"
	"testing"

	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// A server that starts while an old primary is back beside the new one uses the new one,
// whatever the order of the hosts.
func TestAServerDoesNotStartWithAnOldPrimary(t *testing.T) {
	t.Parallel()
	r := pgtest.NewReplicas(t, 3)
	create := func(n int) record.Push {
		db := openURL(t, r.PrimaryURL())
		defer db.Close()
		p := pushed(t, db, conformance.LivePush(n, 0))
		return p
	}
	create(1)
	old := r.Primary()
	r.Freeze(old)
	r.Promote()
	later := create(2)
	r.Thaw(old)
	for range 3 {
		db := openURL(t, r.URL())
		if _, err := conformance.Push(t.Context(), db, later.ID); errors.Is(err, record.ErrNotFound) {
			t.Error("it uses the old primary")
		} else if err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server that runs leaves an old primary that is up beside the new one.
func TestAServerLeavesAnOldPrimary(t *testing.T) {
	t.Parallel()
	r := pgtest.NewReplicas(t, 3)
	promises := make(chan postgres.Durability, 99)
	db := openURL(t, r.URL(), telling(make(chan told, 99), promises))
	defer db.Close()
	old := next(t, promises)
	r.Promote()
	if d := next(t, promises); d.Host == old.Host {
		t.Errorf("it uses %s, and before %s", d, old)
	}
	p := conformance.LivePush(1, 0)
	other := openURL(t, r.PrimaryURL())
	defer other.Close()
	pushed(t, other, p)
	if _, err := conformance.Push(t.Context(), db, p.ID); err != nil {
		t.Errorf("what the new primary has: %v", err)
	}
}
