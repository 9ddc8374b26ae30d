package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// shared returns the figures of a database; also while it does not answer.
func shared(t *testing.T, db *postgres.DB) record.SharedStats {
	t.Helper()
	s, err := db.Stats(t.Context())
	if err != nil && !errors.Is(err, record.ErrUnavailable) || s.Shared == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	return *s.Shared
}

func TestWhatStepsMeetIsCounted(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	p, url := newProxy(t, direct)
	db := openURL(t, url)
	defer db.Close()
	if s := shared(t, db); s.Max != 16 || s.Idle+s.InUse == 0 || s.Conflicts+s.Retries+s.FoundOut+s.LeftUnknown != 0 {
		t.Errorf("at first: %+v", s)
	}
	push := conformance.LivePush(1, 0)
	p.lose("insert into push", dropAnswer)
	pushed(t, db, push)
	if s := shared(t, db); s.FoundOut != 1 || s.Retries == 0 || s.LeftUnknown != 0 || s.Conflicts != 0 {
		t.Errorf("after a lost answer: %+v", s)
	}
	before := shared(t, db)
	p.lose("select p.id", dropAnswer)
	if _, err := conformance.Push(t.Context(), db, push.ID); err != nil {
		t.Fatal(err)
	}
	if s := shared(t, db); s.FoundOut != before.FoundOut || s.Retries != before.Retries+1 {
		t.Errorf("after a lost answer to a read: %+v", s)
	}
	other := openURL(t, direct)
	defer other.Close()
	for shared(t, db).Conflicts == 0 {
		var changers sync.WaitGroup
		for _, one := range []*postgres.DB{db, other} {
			changers.Go(func() {
				for range 20 {
					if _, err := one.Change(t.Context(), push.ID, count); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if changers.Wait(); t.Failed() {
			return
		}
	}
	if s := shared(t, db); s.LeftUnknown != 0 || s.FoundOut != 1 {
		t.Errorf("after conflicts: %+v", s)
	}
	soon := openURL(t, url, quick)
	defer soon.Close()
	p.lose("update push set", holdAnswer)
	gone := make(chan error, 1)
	go func() {
		_, err := soon.Change(t.Context(), push.ID, count)
		gone <- err
	}()
	for p.lost() < 3 {
		time.Sleep(time.Millisecond)
	}
	p.away(true)
	if err := <-gone; !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("while the database is away: %v", err)
	}
	if s := shared(t, soon); s.LeftUnknown != 1 || s.FoundOut != 0 {
		t.Errorf("after a step whose outcome was not found out: %+v", s)
	}
}

// count changes a push without an audit entry.
func count(p record.Push) (record.Push, record.Entry, error) {
	p.Failed++
	return p, record.Entry{}, nil
}
