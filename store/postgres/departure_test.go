package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// mover opens a database as a move out of it does.
func mover(t *testing.T, url secret.Text) *postgres.DB {
	t.Helper()
	db := openURL(t, url, func(o *postgres.Options) { o.Moved = true })
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// running opens a database as a server does, which looks for another key ring often.
func running(t *testing.T, url secret.Text) *postgres.DB {
	t.Helper()
	follow := func([]byte) (record.RowKeys, error) { return conformance.Keys{}, nil }
	db := openFollowing(t, url, follow, func(o *postgres.Options) { o.Poll = 5 * time.Millisecond })
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// While servers write, a move marks the database. What they were told of before is there to
// be copied, and nothing comes after.
func TestAllThatWasAcknowledgedIsThereAfterADeparture(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := mover(t, url)
	var next atomic.Int64
	var made sync.Map // record.ID → nothing
	var writers sync.WaitGroup
	for range 2 {
		server := running(t, url)
		for range 8 {
			writers.Go(func() {
				for {
					p := conformance.LivePush(int(next.Add(1)), 0)
					err := conformance.Made(server.CreatePush(context.Background(), p, []byte("payload"), conformance.Creation(p)))
					if errors.Is(err, record.ErrStaleKeys) || errors.Is(err, record.ErrMoved) {
						return
					}
					if err != nil {
						t.Errorf("a create: %v", err)
						return
					}
					made.Store(p.ID, true)
				}
			})
		}
	}
	for next.Load() < 100 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	env.OK(t, depart(t.Context(), db))
	there := make(map[record.ID]bool)
	for r, err := range db.Dump(t.Context()) {
		env.OK(t, err)
		if r.Kind == record.RecordPush {
			there[record.ID(r.Key)] = true
		}
	}
	writers.Wait()
	n := 0
	for id := range made.Range {
		if n++; !there[id.(record.ID)] {
			t.Errorf("push %s was acknowledged, and a dump after the departure lacks it", id)
		}
	}
	if n < 50 {
		t.Errorf("only %d pushes were made", n)
	}
}

// depart marks a database as one that moves. Writes may take longer than a departure waits for
// them, which then begins again.
func depart(ctx context.Context, db *postgres.DB) error {
	for {
		if _, err := db.Depart(ctx, postgres.Departure{}); !errors.Is(err, record.ErrBusy) {
			return err
		}
	}
}

// departBehind begins a transaction with a statement, and then a departure.
func departBehind(t *testing.T, statement string) (tx pgx.Tx, departed <-chan error) {
	t.Helper()
	url := pgtest.URL(t)
	db := mover(t, url)
	conn, err := pgx.Connect(t.Context(), url.Reveal())
	env.OK(t, err)
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	if tx, err = conn.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- depart(t.Context(), db) }()
	return tx, ended
}

// A statement that began before the departure may write after all others, so the departure
// waits for it.
func TestADepartureWaitsForTheWritesThatBegan(t *testing.T) {
	t.Parallel()
	tx, departed := departBehind(t, "update push set op = op") // of no row: it has a lock, and no transaction ID
	for waiting := 0; waiting == 0 && len(departed) == 0; {
		if err := tx.QueryRow(t.Context(), "select count(*) from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-departed:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	env.OK(t, tx.Commit(t.Context()))
	if err := <-departed; err != nil {
		t.Error(err)
	}
}

// It waits for writes to any table: it locks all of them, but for the key ring, of which it
// locks the row.
func TestADepartureLocksAllTables(t *testing.T) {
	t.Parallel()
	tx, departed := departBehind(t, "select from ring for update")
	for waiting := 0; waiting == 0 && len(departed) == 0; {
		env.OK(t, tx.QueryRow(t.Context(), "select count(*) from pg_locks where not granted and transactionid = pg_current_xact_id()::xid").Scan(&waiting))
	}
	rows, err := tx.Query(t.Context(), `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'ring'
		and not exists (select from pg_locks where relation = pg_class.oid and mode = 'ShareLock' and granted)`)
	env.OK(t, err)
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(open) > 0 {
		t.Errorf("these tables are not locked: %q, %v", open, err)
	}
	if err := errors.Join(tx.Rollback(t.Context()), <-departed); err != nil {
		t.Error(err)
	}
}

// Servers refuse a database that is marked, those that run and those that start, and use it
// again when the mark is gone.
func TestServersRefuseADatabaseThatWasMoved(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db, server := mover(t, url), running(t, url)
	p := pushed(t, server, conformance.LivePush(1, 0))
	tries := []limit.Tally{{Of: 1, Most: 10, Span: time.Hour}}
	refuses := func(when string) {
		t.Helper()
		for _, err := conformance.Push(t.Context(), server, p.ID); !errors.Is(err, record.ErrMoved); _, err = conformance.Push(t.Context(), server, p.ID) {
			if err != nil {
				t.Fatalf("%s, a read: %v", when, err)
			}
		}
		if c, err := server.Change(t.Context(), p.ID, conformance.View); !errors.Is(err, record.ErrMoved) || c.Payload != nil {
			t.Errorf("%s, a view: %q, %v", when, c.Payload, err)
		}
		if _, err := server.Tries(t.Context(), limit.Count, time.Now(), tries); !errors.Is(err, record.ErrMoved) {
			t.Errorf("%s, a try: %v", when, err)
		}
		other, _, err := postgres.Open(t.Context(), unhurried(url))
		env.OK(t, err)
		defer other.Close()
		if err := other.Unlock(t.Context(), conformance.Keys{}, nil, nil); !errors.Is(err, record.ErrMoved) {
			t.Errorf("%s, a start: %v", when, err)
		}
	}
	first, err := db.Depart(t.Context(), postgres.Departure{})
	env.OK(t, err)
	refuses("while it moves")
	second, err := db.Depart(t.Context(), first)
	if err != nil || second == first {
		t.Fatalf("another move: %v, %v", second, err)
	}
	if _, err := db.Depart(t.Context(), first); !errors.Is(err, record.ErrMoved) {
		t.Errorf("a move that saw an older mark: %v", err)
	}
	for name, end := range map[string]func(context.Context, postgres.Departure) error{"ends": db.Arrive, "gives up": db.Stay} {
		if err := end(t.Context(), first); !errors.Is(err, record.ErrMoved) {
			t.Errorf("a move that another has overtaken %s: %v", name, err)
		}
	}
	for range 2 { // the second time, as after an answer that was lost
		env.OK(t, db.Arrive(t.Context(), second))
	}
	refuses("when it has moved")
	ended, err := db.Departure(t.Context())
	if err != nil || ended.Number != second.Number || !ended.Ended {
		t.Errorf("the mark is %v, %v", ended, err)
	}
	if _, err := db.Depart(t.Context(), ended); !errors.Is(err, record.ErrMoved) {
		t.Errorf("a move of what has moved: %v", err)
	}
	for range 2 {
		env.OK(t, db.Stay(t.Context(), ended))
	}
	for err := record.ErrMoved; errors.Is(err, record.ErrMoved); {
		_, err = conformance.Push(t.Context(), server, p.ID)
	}
	if c, err := server.Change(t.Context(), p.ID, conformance.View); err != nil || string(c.Payload) != "payload" {
		t.Errorf("a view after all: %q, %v", c.Payload, err)
	}
}

// A server that was frozen while the database was marked writes nothing, before it learns of
// the mark.
func TestAServerThatDoesNotKnowOfADepartureWritesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db, frozen := mover(t, url), openURL(t, url) // it follows no keys, so it learns of nothing
	defer frozen.Close()
	p := pushed(t, frozen, conformance.LivePush(1, 0))
	if _, err := db.Depart(t.Context(), postgres.Departure{}); err != nil {
		t.Fatal(err)
	}
	another := conformance.LivePush(2, 0)
	at := time.Now()
	for name, write := range map[string]func() error{
		"a create": func() error {
			return conformance.Made(frozen.CreatePush(t.Context(), another, []byte("payload"), conformance.Creation(another)))
		},
		"a view": func() error {
			c, err := frozen.Change(t.Context(), p.ID, conformance.View)
			if c.Payload != nil {
				t.Errorf("a payload was delivered")
			}
			return err
		},
		"an account": func() error {
			_, err := cold.CreateAccount(t.Context(), frozen, record.Account{Email: "a"}, conformance.Told)
			return err
		},
		"a time": func() error {
			_, err := frozen.KeepTime(t.Context(), at)
			return err
		},
		"a try": func() error {
			_, err := frozen.Tries(t.Context(), limit.Count, at, []limit.Tally{{Of: 1, Most: 10, Span: time.Hour}})
			return err
		},
		"other keys": func() error {
			return frozen.SetKeyRing(t.Context(), []byte("ring"), conformance.Keys{}, conformance.Told)
		},
	} {
		if err := write(); !errors.Is(err, record.ErrStaleKeys) && !errors.Is(err, record.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
