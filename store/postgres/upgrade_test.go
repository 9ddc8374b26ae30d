package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// What later versions may do: older ones can continue after the first migration, and not after
// the second one.
var (
	additive = postgres.Migration{Oldest: 2, Text: `alter table push add column note text not null default '';
		alter table account add column note text not null default ''; create table note (id bytea primary key)`}
	breaking = postgres.Migration{Text: "create table rule (id bytea primary key)"}
)

func withMigrations(more ...postgres.Migration) func(*postgres.Options) {
	return func(o *postgres.Options) { postgres.WithMigrations(o, more...) }
}

// A worker creates pushes and has them viewed to their ends, by any of several engines.
type worker struct {
	*testing.T
	made, delivered atomic.Int64
	ended           atomic.Bool
	all             sync.WaitGroup
}

// work has an engine work until the end of all, or until it has failed.
func (w *worker) work(db *postgres.DB, first int) {
	for n := range 4 {
		w.all.Go(func() {
			for i := first + n; !w.ended.Load(); i += 4 {
				p := conformance.LivePush(i, 0)
				err := conformance.Made(db.CreatePush(w.Context(), p, []byte("payload"), conformance.Creation(p)))
				if isOutdated(err) {
					return
				}
				if err != nil {
					w.Errorf("create: %v", err)
					return
				}
				w.made.Add(1)
				c, err := db.Change(w.Context(), p.ID, conformance.View)
				if err == nil && string(c.Payload) == "payload" {
					w.delivered.Add(1)
				} else if !isOutdated(err) {
					w.Errorf("view: %q, %v", c.Payload, err)
				}
			}
		})
	}
}

// isOutdated reports whether an engine refuses since a later version changed the database. It
// is told at its next look, and may write nothing before.
func isOutdated(err error) bool {
	return errors.Is(err, record.ErrFailed) || errors.Is(err, record.ErrStaleKeys) || errors.Is(err, record.ErrUnavailable)
}

// wait waits until there are that many views more.
func (w *worker) wait(more int64) {
	w.Helper()
	for before, begun := w.delivered.Load(), time.Now(); w.delivered.Load() < before+more; time.Sleep(time.Millisecond) {
		if time.Since(begun) > env.Patience {
			w.Fatal("nothing goes on")
		}
	}
}

// Servers are upgraded one after the other: a newer version changes the tables while the
// older one works, both work side by side, and then the older one goes.
func TestAnUpgradeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	old := openURL(t, url)
	w := &worker{T: t}
	w.work(old, 0)
	w.wait(50)
	next := openURL(t, url, withMigrations(additive))
	defer next.Close()
	w.wait(50)
	w.work(next, 1<<20)
	w.wait(100)
	again := openURL(t, url) // the older one may even start
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	w.ended.Store(true)
	w.all.Wait()
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if made := pgtest.Count(t, url, "select count(*) from push"); made != w.made.Load() {
		t.Errorf("%d pushes were acknowledged, and %d are there", w.made.Load(), made)
	}
	conformance.CheckClean(t, next)
}

// After a migration that says so, an older version does nothing more, and says why.
func TestAnOlderVersionEnds(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	old := openURL(t, url, func(o *postgres.Options) { o.Poll = 50 * time.Millisecond })
	w := &worker{T: t}
	w.work(old, 0)
	w.wait(50)
	next := openURL(t, url, withMigrations(additive, breaking))
	p := conformance.LivePush(1<<21, 0)
	if err := conformance.Made(old.CreatePush(t.Context(), p, nil, conformance.Creation(p))); err == nil {
		t.Error("the older version creates a push in newer tables")
	}
	select {
	case <-old.Failed():
	case <-time.After(env.Patience):
		t.Fatal("the older version goes on")
	}
	w.all.Wait()
	wantRefused(t, url, old)
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	w.work(next, 1<<20)
	w.wait(50)
	w.ended.Store(true)
	w.all.Wait()
	conformance.CheckClean(t, next)
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// wantRefused wants an error with words of each step of an older version, and of its start.
func wantRefused(t *testing.T, url secret.Text, old *postgres.DB) {
	t.Helper()
	_, stepErr := conformance.Push(t.Context(), old, record.ID{1})
	_, _, startErr := postgres.Open(t.Context(), unhurried(url))
	words := fmt.Sprintf("its schema number is %d, for versions that know %[1]d or later, and this version knows %d", postgres.Schema+2, postgres.Schema)
	for name, err := range map[string]error{"a step": stepErr, "a start": startErr} {
		if !errors.Is(err, record.ErrSchema) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !errors.Is(stepErr, record.ErrFailed) {
		t.Errorf("a step: %v", stepErr)
	}
}
