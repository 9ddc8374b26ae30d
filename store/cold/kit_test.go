package cold_test

import (
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// A suite is the tests of one kind of record, by what they test. Each test gets an empty engine.
type suite map[string]func(*testing.T, record.Engine)

// run runs a suite on each engine that a store may have. Each test ends with a check that must find
// nothing.
func (s suite) run(t *testing.T) {
	t.Parallel()
	for engine, open := range engines {
		for name, test := range s {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				e := open(t)
				t.Cleanup(func() {
					if err := e.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
				test(t, e)
				conformance.CheckClean(t, e)
			})
		}
	}
}

// What the suites of engines have, too.
var (
	must     = conformance.Must
	wantErr  = conformance.WantErr
	same     = conformance.Same
	together = conformance.Together
)

// epoch is when the first record of the suites begins.
var epoch = conformance.LivePush(0, 0).CreatedAt

var engines = map[string]func(*testing.T) record.Engine{
	"bbolt": func(t *testing.T) record.Engine {
		db, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(t.TempDir(), "pushbox.db")})
		return unlocked(t, db, err)
	},
	"postgresql": func(t *testing.T) record.Engine {
		db, _, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.URL(t), Dir: t.TempDir(), Attempt: env.Patience, Connect: env.Patience})
		return unlocked(t, db, err)
	},
}

func unlocked(t *testing.T, e record.Engine, err error) record.Engine {
	t.Helper()
	must(t, err)
	must(t, e.Unlock(t.Context(), conformance.Keys{}, nil, nil))
	return e
}

// account keeps an active account of that address.
func account(t *testing.T, e record.Engine, email string) record.AccountID {
	t.Helper()
	id, err := cold.CreateAccount(t.Context(), e, record.Account{Email: email, PasswordHash: "$argon2id$", CreatedAt: epoch}, conformance.Told)
	must(t, err)
	return id
}

// create keeps the n-th push and returns it.
func create(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	p := conformance.LivePush(n, owner)
	must(t, conformance.Made(e.CreatePush(t.Context(), p, conformance.Payload(n), conformance.Creation(p))))
	return p
}

// change applies a rule that must not fail.
func change(t *testing.T, e record.Engine, id record.ID, r record.Rule) {
	t.Helper()
	_, err := e.Change(t.Context(), id, r)
	must(t, err)
}
