package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// A told is a trouble that an engine reports.
type told struct {
	why    error
	lasted time.Duration
}

// telling has an engine look often, and send what it reports.
func telling(troubles chan told, promises chan postgres.Durability) func(*postgres.Options) {
	return func(o *postgres.Options) {
		quick(o)
		o.Poll = 20 * time.Millisecond
		o.Trouble = func(why error, lasted time.Duration) { troubles <- told{why, lasted} }
		o.Durable = func(d postgres.Durability) { promises <- d }
	}
}

// next is what comes next from a channel.
func next[T any](t *testing.T, from chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(env.Patience):
		t.Fatal("nothing was told")
	}
	return v
}

// An engine tells once that its database is away, at once, and once that it is back.
func TestADatabaseThatIsAwayIsToldOfOnce(t *testing.T) {
	t.Parallel()
	p, url := newProxy(t, pgtest.URL(t))
	troubles, promises := make(chan told, 99), make(chan postgres.Durability, 99)
	db := openURL(t, url, telling(troubles, promises))
	defer db.Close()
	next(t, promises)
	for range 2 {
		p.away(true)
		if got := next(t, troubles); !errors.Is(got.why, record.ErrUnavailable) || errors.Is(got.why, record.ErrStandby) || !strings.HasPrefix(got.why.Error(), "the database does not answer: ") {
			t.Errorf("while it is away: %v", got.why)
		}
		if _, err := cold.LastAccount(t.Context(), db); !errors.Is(err, record.ErrUnavailable) || strings.Contains(err.Error(), "not known") { // several looks long
			t.Errorf("a read: %v", err)
		}
		if err := db.Ready(t.Context()); !errors.Is(err, record.ErrUnavailable) {
			t.Errorf("it is ready: %v", err)
		}
		p.away(false)
		if got := next(t, troubles); got.why != nil || got.lasted < 500*time.Millisecond {
			t.Errorf("when it is back: %+v", got)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("it is not ready: %v", err)
		}
	}
	if len(troubles) > 0 || len(promises) > 0 {
		t.Errorf("it tells more: %d, %d", len(troubles), len(promises))
	}
}

// A database that waits for a standby answers reads, and is not ready.
func TestADatabaseWithoutItsStandbyIsNotReady(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // or the test is skipped
	c, err := pgtest.Start("listen_addresses=", "fsync=on", "log_min_messages=fatal", "autovacuum=off")
	env.OK(t, err)
	t.Cleanup(c.Stop)
	url := c.Database(t)
	admin, err := pgx.Connect(t.Context(), url.Reveal()+" synchronous_commit=local")
	env.OK(t, err)
	defer admin.Close(context.WithoutCancel(t.Context()))
	set := func(statement string) {
		t.Helper()
		for _, s := range []string{statement, "select pg_reload_conf()"} {
			if _, err := admin.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	troubles, promises := make(chan told, 99), make(chan postgres.Durability, 99)
	db := openURL(t, url, telling(troubles, promises))
	defer db.Close()
	if _, err := db.Durability(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := next(t, promises); d.Level() != postgres.Single || d.Host != c.Socket() {
		t.Errorf("at first: %s", d)
	}
	set("alter system set synchronous_standby_names = 'second'")
	if got := next(t, troubles); !errors.Is(got.why, record.ErrStandby) {
		t.Errorf("without its standby: %v", got.why)
	}
	if d := next(t, promises); d.Level() != postgres.Replicated {
		t.Errorf("without its standby: %s", d)
	}
	created := make(chan error, 1)
	go func() {
		push := conformance.LivePush(1, 0)
		created <- conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push)))
	}()
	for len(created) == 0 { // each attempt waits for the standby, until its connection ends
		if _, err := admin.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-created; !errors.Is(err, record.ErrStandby) || !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("a create: %v", err)
	}
	if _, err := cold.LastAccount(t.Context(), db); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := db.Ready(t.Context()); !errors.Is(err, record.ErrStandby) {
		t.Errorf("it is ready: %v", err)
	}
	set("alter system reset synchronous_standby_names")
	if got := next(t, troubles); got.why != nil {
		t.Errorf("with what it needs: %v", got.why)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	if next(t, promises); len(troubles)+len(promises) > 0 {
		t.Errorf("it tells more: %d, %d", len(troubles), len(promises))
	}
}
