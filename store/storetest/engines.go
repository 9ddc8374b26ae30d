package storetest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// Rounds returns how many of n rounds a subtest of OnEachEngine makes: a tenth, at least
// one, where each step of it is a round trip to a database.
func Rounds(t testing.TB, n uint64) uint64 {
	if strings.HasSuffix(t.Name(), "/"+postgresql) {
		return max(1, n/10)
	}
	return n
}

// OnEachEngine runs a test for each engine that a store may have, as a subtest. engine
// chooses it for New. A package that calls it has pgtest.Main in its TestMain.
func OnEachEngine(t *testing.T, test func(t *testing.T, engine func(*Setup))) {
	t.Helper()
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, engine(t))
		})
	}
}

// Postgres has each store keep everything in a new PostgreSQL database. The test is skipped
// where the system has no PostgreSQL.
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

// InMemory puts the database on a file system in memory where the system has one: for
// tests of what a store does, not of what survives a loss of power.
func InMemory(t testing.TB) func(*Setup) {
	dir, err := os.MkdirTemp("/dev/shm", "pushbox-test-")
	if err != nil {
		return func(*Setup) {}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return func(o *Setup) { o.Engine.Path = filepath.Join(dir, "pushbox.db") }
}

// A Clock is a clock.Clock that moves only when a test moves it. It is safe for
// concurrent use.
type Clock struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
}

// NewClock returns a clock that shows 2026-01-01T00:00:00Z.
func NewClock() *Clock {
	return &Clock{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// Now is what the wall clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Elapsed is the monotonic time that has passed.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// Advance lets the time d pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d
}

// Jump moves the wall clock by d, ahead or back, while no time passes.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// A Forgery damages what the store reads of files.
type Forgery struct {
	Take  func(file, n int) (int, int)     // returns which chunk is read instead; nil: the one asked for
	Spoil func(file, n int, sealed []byte) // changes what was read; may be nil
}

// Forge damages what is read of files from now on; nil ends that.
func (f *Fixture) Forge(x *Forgery) { f.forgery.Store(x) }

// A forger is an engine whose files may be damaged.
type forger struct {
	record.Engine
	forgery *atomic.Pointer[Forgery]
}

func (e forger) Chunk(ctx context.Context, d record.GrantDigest, file, n int, dst []byte) (record.Grant, []byte, error) {
	x := e.forgery.Load()
	if x == nil {
		return e.Engine.Chunk(ctx, d, file, n, dst)
	}
	if x.Take != nil {
		file, n = x.Take(file, n)
	}
	g, sealed, err := e.Engine.Chunk(ctx, d, file, n, dst)
	if err == nil && x.Spoil != nil {
		x.Spoil(file, n, sealed[len(dst):])
	}
	return g, sealed, err
}

// A Watched is an engine that calls Look before each list of a table.
type Watched struct {
	record.Engine
	Look func(of *record.Table)
}

// View reads through a view that calls Look.
func (e Watched) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(watchedView{v, e.Look}) })
}

type watchedView struct {
	record.View
	look func(of *record.Table)
}

func (v watchedView) List(of *record.Table, r record.Range) ([]record.Record, error) {
	v.look(of)
	return v.View.List(of, r)
}

// CountLists has the store of a fixture count in n how often it lists a table.
func CountLists(of *record.Table, n *atomic.Int64) func(record.Engine) record.Engine {
	return func(e record.Engine) record.Engine {
		return Watched{e, func(listed *record.Table) {
			if listed == of {
				n.Add(1)
			}
		}}
	}
}
