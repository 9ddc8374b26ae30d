package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// Pushes that are created together are each judged alone: by what its sender has room for,
// whether its owner may act, and whether there is one with its ID.
func TestCreatesTogetherAreJudgedAlone(t *testing.T) {
	t.Parallel()
	const most, senders = 7, 5
	all := servers(t, 2, func(o *postgres.Options) {
		o.Room = record.RoomLimits{Client: record.Room{Pushes: most}, Account: record.Room{Pushes: most + 1}}
	})
	var owners [2]record.AccountID
	for i, email := range []string{"a@example.org", "gone@example.org"} {
		var err error
		if owners[i], err = cold.CreateAccount(t.Context(), all[0], record.Account{Email: email}, conformance.Told); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cold.ChangeAccount(t.Context(), all[0], owners[1], record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Disabled = true
		return a, record.SessionChange{}, conformance.Told, nil
	}); err != nil {
		t.Fatal(err)
	}
	taken := pushed(t, all[0], conformance.LivePush(1<<20, 0))
	var made [senders + 2]atomic.Int32
	var creates sync.WaitGroup
	create := func(server int, p record.Push, of int, want error) {
		creates.Go(func() {
			switch err := conformance.Made(all[server].CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p))); {
			case err == nil:
				made[of].Add(1)
			case !errors.Is(err, want):
				t.Errorf("sender %d: %v", of, err)
			}
		})
	}
	n := 0
	next := func(owner record.AccountID) record.Push { n++; return conformance.LivePush(n, owner) }
	for i := range 3 * most {
		for of := range senders {
			p := next(0)
			p.Holder = record.Holder{1, byte(of)}
			create(i%2, p, of, record.ErrRoom)
		}
		create(i%2, next(owners[0]), senders, record.ErrRoom)
		create(i%2, next(owners[1]), senders+1, record.ErrToken)
		create(i%2, taken, senders+1, record.ErrExists)
	}
	creates.Wait()
	want := [senders + 2]int32{most, most, most, most, most, most + 1, 0}
	for of := range made {
		if got := made[of].Load(); got != want[of] {
			t.Errorf("sender %d made %d pushes, not %d", of, got, want[of])
		}
	}
	conformance.CheckClean(t, all[0])
}

// Where the answer to a statement is lost, each create that shared it is found out: done once,
// and told as done.
func TestLostAnswersToCreatesTogether(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]deed{"after the commit": dropAnswer, "before it": dropAsked} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, url := newProxy(t, pgtest.URL(t))
			db := openURL(t, url)
			defer db.Close()
			p.lose("insert into push", deed)
			var creates sync.WaitGroup
			const n = 60
			for i := range n {
				creates.Go(func() {
					push := conformance.LivePush(i+1, 0)
					if err := conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push))); err != nil {
						t.Error(err)
					}
				})
			}
			creates.Wait()
			if p.lost() != 1 {
				t.Error("no statement was lost")
			}
			for i := range n {
				es, err := db.Entries(t.Context(), conformance.LivePush(i+1, 0).ID, 0, 100)
				if err != nil || len(es) != 1 {
					t.Errorf("%d entries, %v", len(es), err)
				}
			}
			conformance.CheckClean(t, db)
		})
	}
}

// A statement that does not end holds up only the reads that share it.
func TestASlowReadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	defer db.Close()
	p := conformance.LivePush(1, 0)
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p))))
	release := db.HoldReads()
	defer release()
	patience, cancel := context.WithTimeout(t.Context(), env.Patience)
	defer cancel()
	if got, size, err := db.Push(patience, p.ID); err != nil || got.ID != p.ID || size != len("payload") {
		t.Errorf("%+v with a payload of %d bytes, %v", got, size, err)
	}
	if patience.Err() != nil {
		t.Error("it waited for the other")
	}
}
