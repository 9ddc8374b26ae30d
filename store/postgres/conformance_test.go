package postgres_test

import (
	"os"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestEngine(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) record.Engine { return openNew(t) })
}

// Nothing depends on the state of a connection, so a PgBouncer may give each transaction
// another one.
func TestEngineThroughPgBouncer(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "TestEngine runs the same suite, without PgBouncer")
	b := pgtest.NewBouncer(t)
	conformance.Run(t, func(t *testing.T) record.Engine { return openURL(t, b.Before(pgtest.URL(t))) })
}

// openNew opens a new database. The caller closes it.
func openNew(t *testing.T) *postgres.DB {
	t.Helper()
	return openURL(t, pgtest.URL(t))
}

// unhurried are the options for a database at an address, which may take its time.
func unhurried(url secret.Text) postgres.Options {
	return postgres.Options{URL: url, Attempt: env.Patience, Connect: env.Patience}
}

// openURL opens a database and unlocks it with the keys of tests. The caller closes it.
func openURL(t *testing.T, url secret.Text, changes ...func(*postgres.Options)) *postgres.DB {
	t.Helper()
	return openFollowing(t, url, nil, changes...)
}

// openFollowing is openURL for a server that follows the key ring.
func openFollowing(t *testing.T, url secret.Text, f record.Follower, changes ...func(*postgres.Options)) *postgres.DB {
	t.Helper()
	o := unhurried(url)
	o.Dir = t.TempDir()
	for _, change := range changes {
		change(&o)
	}
	db, _, err := postgres.Open(t.Context(), o)
	env.OK(t, err)
	_, err = db.KeyRing(t.Context())
	env.OK(t, err)
	env.OK(t, db.Unlock(t.Context(), conformance.Keys{}, nil, f))
	return db
}

// pushed creates a push, and returns it.
func pushed(t *testing.T, db *postgres.DB, p record.Push) record.Push {
	t.Helper()
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p))))
	return p
}

// newAccount creates the account of a@example.org.
func newAccount(t *testing.T, db *postgres.DB) record.AccountID {
	t.Helper()
	id, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told)
	env.OK(t, err)
	return id
}
