package postgres_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/storetest/conformance"
)

// Without a pooler, the server parses and plans a statement of views seldom: at first, and
// again when its plan is old. A pooler that passes for the server is found out, and costs
// no view.
func TestStatementsOfViewsArePrepared(t *testing.T) {
	t.Parallel()
	p, url := newProxy(t, pgtest.URL(t))
	db := openURL(t, secret.New(url.Reveal()+" pool_max_conns=1"), func(o *postgres.Options) { o.Poll = time.Hour }) // each other connection has plans of its own
	defer db.Close()
	push := conformance.LivePush(1, 0)
	push.ViewLimit = 1000
	pushed(t, db, push)
	views := 0
	parses := func(more int) int {
		t.Helper()
		before := p.parses("update push set seq")
		for range more {
			views++
			if c, err := db.Change(t.Context(), push.ID, conformance.View); err != nil || c.Push.Views != views {
				t.Fatalf("view %d: the push has %d, %v", views, c.Push.Views, err)
			}
		}
		return p.parses("update push set seq") - before
	}
	young := time.Now().Add(time.Hour) // for as long as the test takes
	postgres.DatePlans(t.Context(), db, young)
	parses(10)
	if n := parses(10); n != 0 {
		t.Errorf("the server parsed %d statements of views once more", n)
	}
	postgres.DatePlans(t.Context(), db, time.Time{})
	if n := parses(1); n != 1 {
		t.Errorf("with an old plan, the server parsed %d statements of views", n)
	}
	postgres.DatePlans(t.Context(), db, young)
	if n := parses(10); n != 0 {
		t.Errorf("with a new plan, the server parsed %d statements of views", n)
	}
	env.OK(t, postgres.LosePlans(t.Context(), db))
	parses(10) // finds it out
	if n := parses(10); n != 10 {
		t.Errorf("behind a pooler, the server parsed %d statements of 10 views", n)
	}
}

// Servers that start at the same time over a new database make one schema and one key ring, and
// all of them open the store, some at the second try.
func TestFirstStartsTogether(t *testing.T) {
	t.Parallel()
	const rounds, servers = 4, 6
	for range rounds {
		key, url := seal.NewRootKey(), pgtest.URL(t)
		var starts sync.WaitGroup
		var made atomic.Int32
		for range servers {
			starts.Go(func() {
				created, err := startFirst(t, url, key)
				if created {
					made.Add(1)
				}
				if errors.Is(err, record.ErrStaleKeys) {
					_, err = startFirst(t, url, key)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		starts.Wait()
		env.Equal(t, "servers that made the schema", made.Load(), 1)
	}
}

// startFirst opens a store and closes it. It reports whether it made the schema.
func startFirst(t *testing.T, url secret.Text, key seal.RootKey) (created bool, err error) {
	t.Helper()
	db, created, err := postgres.Open(t.Context(), unhurried(url))
	if err != nil {
		return created, err
	}
	s, err := store.Open(t.Context(), db, key, store.Options{})
	if err != nil {
		return created, errors.Join(err, db.Close())
	}
	return created, s.Close(t.Context())
}
