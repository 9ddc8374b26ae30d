// Package storetest has what tests of a store need: a store on a real file with a clock
// that they set. Package conformance below it has the suite that every engine passes.
package storetest

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Fixture is a store on a temporary file.
type Fixture struct {
	*store.Store
	Clock *Clock
	Path  string // of the database

	t         testing.TB
	engine    record.Engine
	root      seal.RootKey
	setup     Setup
	abandoned bool
	forgery   atomic.Pointer[Forgery]
}

// A Setup says how to make a fixture.
type Setup struct {
	store.Options
	Engine  bolt.Options                                     // its path is the fixture's own
	Open    func(ctx context.Context) (record.Engine, error) // opens another engine; nil: that of Engine
	KeyFile string                                           // keeps the root key, so that it can be rotated; empty: no file
	Wrap    func(record.Engine) record.Engine                // returns a replacement for the engine; nil: the engine itself
}

// Terms are generous terms for every kind, with the defaults of the configuration.
func Terms() map[record.Kind]store.Terms {
	t := store.Terms{
		Enabled:       true,
		Days:          store.Range{Default: 7, Min: 1, Max: 90},
		Views:         store.Range{Default: 5, Min: 1, Max: 100},
		RetrievalStep: store.Choice{Enabled: true, Default: true},
		Deletable:     store.Choice{Enabled: true, Default: true},
	}
	all := make(map[record.Kind]store.Terms)
	for _, k := range record.Kinds() {
		all[k] = t
	}
	return all
}

// New opens a new store. When the test ends, it checks the file before it closes it.
// Each change is applied to its setup first.
func New(t testing.TB, changes ...func(*Setup)) *Fixture {
	t.Helper()
	f := newFixture(t, filepath.Join(t.TempDir(), "pushbox.db"))
	f.root = seal.NewRootKey()
	f.setup.Argon2, f.setup.SignIns, f.setup.Issuer = seal.Cheap(), store.SignInLimits{PerClient: 5, PerAccount: 10}, "pushbox"
	for _, change := range changes {
		change(&f.setup)
	}
	if file := f.setup.KeyFile; file != "" {
		f.setup.Root.File = file
		env.OK(t, seal.KeepKeyFile(file, f.root))
	}
	f.start()
	return f
}

// newFixture returns a fixture that is not open.
func newFixture(t testing.TB, path string) *Fixture {
	clock := NewClock()
	return &Fixture{Clock: clock, Path: path, t: t, setup: Setup{
		Options: Options(clock), Engine: bolt.Options{Path: path, Timeout: env.Patience},
	}}
}

// Options are those of a fixture.
func Options(by *Clock) store.Options {
	return store.Options{
		Clock:    by,
		Terms:    Terms(),
		Guessing: store.Guessing{PerClient: 5, PerPush: 20, Queue: 64},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 30, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * 24 * time.Hour},
		Hooks:    store.HookOptions{Queue: 1000, GiveUp: 24 * time.Hour},
	}
}

// Over opens the database at path, under the same key and by the same clock. It is
// checked and closed as that of New.
func (f *Fixture) Over(path string) *Fixture {
	f.t.Helper()
	return f.again(path, func(o *Setup) { o.Engine.Path = path })
}

// Beside opens the same database again, under the same key and by the same clock, as another server
// does, with changes to its setup. It is closed like that of New.
func (f *Fixture) Beside(changes ...func(*Setup)) *Fixture {
	f.t.Helper()
	return f.again(f.Path, changes...)
}

func (f *Fixture) again(path string, changes ...func(*Setup)) *Fixture {
	f.t.Helper()
	other := &Fixture{Clock: f.Clock, Path: path, t: f.t, root: f.root, setup: f.setup}
	for _, change := range changes {
		change(&other.setup)
	}
	other.start()
	return other
}

func (f *Fixture) start() {
	f.t.Helper()
	f.open()
	f.t.Cleanup(func() {
		if f.abandoned {
			_ = f.Close(context.Background())
			return
		}
		f.Check()
		f.close()
	})
}

// Abandon is for tests that damage the file: it skips the check at the end.
func (f *Fixture) Abandon() { f.abandoned = true }

// Reopen closes the store and opens it again, as a restart does.
func (f *Fixture) Reopen() {
	f.t.Helper()
	f.close()
	f.open()
}

// Check fails the test for each promise that the file breaks.
func (f *Fixture) Check() {
	f.t.Helper()
	problems, err := f.Store.Check(context.Background())
	if err != nil {
		f.t.Errorf("check: %v", err)
	}
	for _, p := range problems {
		f.t.Errorf("check: %s", p)
	}
}

// SweepAll sweeps until nothing is due.
func (f *Fixture) SweepAll() {
	f.t.Helper()
	if _, err := f.Sweep(context.Background()); err != nil {
		f.t.Fatalf("sweep: %v", err)
	}
}

// Engine is the store's engine.
func (f *Fixture) Engine() record.Engine { return f.engine }

// Orphans counts the uploads and ended pushes that still have chunks.
func (f *Fixture) Orphans() int {
	f.t.Helper()
	ids, err := f.engine.Orphans(context.Background(), record.ID{}, 1000)
	if err != nil {
		f.t.Fatalf("orphans: %v", err)
	}
	return len(ids)
}

// Account adds an account and returns an actor for it.
func (f *Fixture) Account(email string) store.Actor {
	f.t.Helper()
	a, err := f.AddAccount(context.Background(), Operator, email, seal.NewAPIToken())
	if err != nil {
		f.t.Fatalf("add account: %v", err)
	}
	return store.Actor{Account: a.ID, Client: "192.0.2.1", IP: "192.0.2.1"}
}

func (f *Fixture) open() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), env.Patience)
	defer cancel()
	open := f.setup.Open
	if open == nil {
		open = func(ctx context.Context) (record.Engine, error) {
			engine, _, err := bolt.Open(ctx, f.setup.Engine)
			return engine, err
		}
	}
	engine, err := open(ctx)
	if err != nil {
		f.t.Fatalf("open: %v", err)
	}
	f.setup.File, _ = engine.(record.FileUpkeep)
	if f.setup.Wrap != nil {
		engine = f.setup.Wrap(engine)
	}
	f.engine = forger{engine, &f.forgery}
	if file := f.setup.KeyFile; file != "" { // the key may have been rotated
		if f.root, err = seal.LoadKeyFile(file); err != nil {
			f.t.Fatalf("open: %v", err)
		}
	}
	if f.Store, err = store.Open(ctx, f.engine, f.root, f.setup.Options); err != nil {
		f.t.Fatalf("open: %v", err)
	}
}

func (f *Fixture) close() {
	f.t.Helper()
	if err := f.Close(context.Background()); err != nil {
		f.t.Errorf("close: %v", err)
	}
}
