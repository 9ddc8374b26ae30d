package storetest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/record"
)

// engines are the engines that a store may have.
var engines = map[string]func(testing.TB) func(*Setup){
	"bbolt":    func(testing.TB) func(*Setup) { return func(*Setup) {} },
	postgresql: Postgres,
}

const postgresql = "postgresql"

// Rounds returns how many of n rounds a subtest of OnEachEngine runs: a tenth, at least one, if
// each step is a round trip to a database.
func Rounds(t testing.TB, n uint64) uint64 {
	if strings.HasSuffix(t.Name(), "/"+postgresql) {
		return max(1, n/10)
	}
	return n
}

// OnEachEngine runs a test for each engine that a store may have, as a subtest. engine is an option
// for New that chooses the engine. A package that calls it has pgtest.Main in its TestMain.
func OnEachEngine(t *testing.T, test func(t *testing.T, engine func(*Setup))) {
	t.Helper()
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, engine(t))
		})
	}
}

// Postgres makes each store use a new PostgreSQL database. It skips the test if the system has no
// PostgreSQL.
func Postgres(t testing.TB) func(*Setup) {
	t.Helper()
	cluster := pgtest.Need(t)
	return func(o *Setup) {
		url := cluster.Database(t)
		room, size := o.Engine.Room, o.Engine.MaxSize
		o.Open = func(ctx context.Context) (record.Engine, error) {
			db, _, err := postgres.Open(ctx, postgres.Options{URL: url, Dir: t.TempDir(), Room: room, MaxSize: size, Attempt: env.Patience, Connect: env.Patience})
			return db, err
		}
	}
}

// CheckInBatches checks properties at least n times, in numbered subtests of
// -rapid.checks checks each, so that -rapid.seed and -run can repeat one of them.
// begin makes the property of a subtest.
func CheckInBatches(t *testing.T, n uint64, begin func(t *testing.T, batch int) (property func(*rapid.T))) {
	t.Helper()
	each := flag.Lookup("rapid.checks").Value.(flag.Getter).Get().(int)
	for batch, done := 0, uint64(0); done < n; batch, done = batch+1, done+uint64(max(1, each)) {
		if !t.Run(strconv.Itoa(batch), func(t *testing.T) { rapid.Check(t, begin(t, batch)) }) {
			return
		}
	}
}

// InMemory puts the database on a file system in memory if the system has one, for tests that do
// not depend on durability.
func InMemory(t testing.TB) func(*Setup) {
	path := filepath.Join(MemoryDir(t), "pushbox.db")
	return func(o *Setup) { o.Engine.Path = path }
}

// MemoryDir is a temporary directory in memory if the system has a file system there.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pushbox-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
