package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A keyed is a store with a key file beside it.
type keyed struct {
	*storetest.Fixture
	t   *testing.T
	dir string
	key string // path of the key file
}

func newKeyed(t *testing.T) *keyed {
	t.Helper()
	k := &keyed{t: t, dir: t.TempDir()}
	k.key = filepath.Join(k.dir, storetest.KeyFile)
	if _, err := seal.CreateKeyFile(k.key); err != nil {
		t.Fatal(err)
	}
	k.start(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	t.Cleanup(func() {
		problems, err := k.Store.Check(ctx)
		if err = errors.Join(err, k.Close(ctx)); err != nil || len(problems) > 0 {
			t.Errorf("check: %q, %v", problems, err)
		}
	})
	return k
}

func (k *keyed) start(at time.Time) { k.Fixture = storetest.OpenDir(k.t, k.dir, at, nil) }

// restart opens the store as the program does.
func (k *keyed) restart() (store.RotationOutcome, error) {
	k.t.Helper()
	env.OK(k.t, k.Close(ctx))
	how, err := k.finishRotation()
	k.start(k.Clock.Now())
	return how, err
}

func (k *keyed) finishRotation() (store.RotationOutcome, error) {
	k.t.Helper()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: k.Path, Timeout: env.Patience})
	env.OK(k.t, err)
	defer func() { _ = engine.Close() }()
	_, how, err := store.FinishRotation(ctx, engine, k.key, k.Clock.Now())
	return how, err
}

func (k *keyed) load(path string) seal.RootKey {
	k.t.Helper()
	key, err := seal.LoadKeyFile(path)
	env.OK(k.t, err)
	return key
}

// wantFiles wants those files beside the database, by the ends of their names.
func (k *keyed) wantFiles(want ...string) {
	k.t.Helper()
	found, err := filepath.Glob(k.key + "*")
	if err != nil || len(found) != len(want) {
		k.t.Fatalf("there are %q, %v", found, err)
	}
	for i, end := range want {
		if !strings.Contains(strings.TrimPrefix(found[i], k.key), end) || end == "" && found[i] != k.key {
			k.t.Errorf("there are %q", found)
		}
		if info, err := os.Stat(found[i]); err != nil || info.Mode().Perm() != 0o600 {
			k.t.Errorf("%s: %v, %v", found[i], info.Mode(), err)
		}
	}
}

func TestARotationReplacesTheKeyAndNothingElse(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	long := func(in *store.NewPush) { in.Days = ptr(90) }
	before, old := storetest.Push(t, k.Fixture, anonymous, long), k.load(k.key)
	r, err := k.RotateKey(ctx, storetest.Operator, false, quiet)
	env.OK(t, err)
	now := k.load(k.key)
	if now.Equal(old) || r.ID != now.ID() || r.OldID != old.ID() || k.KeyID() != now.ID() || r.Old == "" || !k.load(r.Old).Equal(old) {
		t.Errorf("it did %+v", r)
	}
	k.wantFiles("", ".old-20260101T000000Z")
	after := storetest.Push(t, k.Fixture, anonymous, long)
	k.Clock.Advance(31 * day) // and another key is added to the ring, which is sealed anew
	if _, err := k.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	third := storetest.Push(t, k.Fixture, anonymous, nil)
	if how, err := k.restart(); how != store.NothingToFinish || err != nil {
		t.Errorf("at the next start: %d, %v", how, err)
	}
	if got := storetest.Retrieve(t, k.Fixture, anonymous, third); got != "s3cret" {
		t.Errorf("a push from after has %q", got)
	}
	for _, p := range []store.PushInfo{before, after} {
		if got := storetest.Retrieve(t, k.Fixture, anonymous, p); got != "s3cret" {
			t.Errorf("a push has %q", got)
		}
	}
}

func TestPushesOpenAfterARotationAndTheOldKeyOpensNothing(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	p, old := storetest.Push(t, k.Fixture, anonymous, nil), k.load(k.key)
	for range 3 {
		k.Clock.Advance(time.Second)
		if r, err := k.RotateKey(ctx, storetest.Operator, true, quiet); err != nil || r.Old != "" {
			t.Fatalf("%+v, %v", r, err)
		}
		k.wantFiles("")
	}
	if got := storetest.Retrieve(t, k.Fixture, anonymous, p); got != "s3cret" {
		t.Errorf("the push has %q", got)
	}
	env.OK(t, k.Close(ctx))
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: k.Path, Timeout: env.Patience})
	env.OK(t, err)
	if _, err := store.Open(ctx, engine, old, store.Options{}); !errors.Is(err, record.ErrKey) {
		t.Errorf("with the old key: %v", err)
	}
	env.OK(t, engine.Close())
	k.start(k.Clock.Now())
	if got := storetest.Retrieve(t, k.Fixture, anonymous, p); got != "s3cret" {
		t.Errorf("after a restart the push has %q", got)
	}
}

// reseal seals the ring under a key behind the back of the store.
func (k *keyed) reseal(under seal.RootKey) {
	k.t.Helper()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: k.Path, Timeout: env.Patience})
	env.OK(k.t, err)
	defer func() { _ = engine.Close() }()
	sealed, err := engine.KeyRing(ctx)
	env.OK(k.t, err)
	ring, err := seal.OpenRing(k.load(k.key), sealed)
	env.OK(k.t, err)
	err = engine.Unlock(ctx, ring, nil, nil)
	if err == nil {
		err = engine.SetKeyRing(ctx, ring.Sealed(under), ring, storetest.Told(engine))
	}
	env.OK(k.t, err)
}

// A rotation is cut short after each of its steps; the next start ends it.
func TestARotationThatWasCutShortIsSettledAtTheNextStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		staged, sealed, kept bool
		want                 store.RotationOutcome
		files                []string
	}{
		"before anything":              {false, false, false, store.NothingToFinish, []string{""}},
		"the next key waits":           {true, false, false, store.KeyTakenBack, []string{""}},
		"the ring is sealed":           {true, true, false, store.KeyAdopted, []string{"", ".old-"}},
		"the old key is kept, as well": {true, true, true, store.KeyAdopted, []string{"", ".old-2025"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t)
			p := storetest.Push(t, k.Fixture, anonymous, nil)
			env.OK(t, k.Close(ctx))
			old, next := k.load(k.key), seal.NewRootKey()
			slot, err := seal.NewKeySlot(k.key)
			if err == nil && c.staged {
				err = slot.Stage(next)
			}
			env.OK(t, err)
			if c.sealed {
				k.reseal(next)
			}
			if c.kept {
				env.OK(t, os.Link(k.key, k.key+".old-20251231T000000Z"))
			}
			if how, err := k.finishRotation(); how != c.want || err != nil {
				t.Errorf("the outcome is %d, %v", how, err)
			}
			k.start(k.Clock.Now())
			if got := storetest.Retrieve(t, k.Fixture, anonymous, p); got != "s3cret" {
				t.Errorf("the push has %q", got)
			}
			if c.sealed != k.load(k.key).Equal(next) || !c.sealed != k.load(k.key).Equal(old) {
				t.Error("the key file has another key")
			}
			k.wantFiles(c.files...)
		})
	}
}

// Of two keys that both do not open the ring, none is touched.
func TestAKeyThatWaitsForAnotherDatabaseStays(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	slot, err := seal.NewKeySlot(k.key)
	if err == nil {
		err = errors.Join(k.Close(ctx), slot.Stage(seal.NewRootKey()))
	}
	env.OK(t, err)
	good := env.Read(t, k.key)
	third := filepath.Join(t.TempDir(), "third.key")
	if _, err := seal.CreateKeyFile(third); err != nil {
		t.Fatal(err)
	}
	env.OK(t, os.WriteFile(k.key, env.Read(t, third), 0o600))
	if how, err := k.finishRotation(); how != store.NothingToFinish || err != nil {
		t.Errorf("the outcome is %d, %v", how, err)
	}
	k.wantFiles("", ".next")
	env.OK(t, os.WriteFile(k.key, good, 0o600))
	if how, err := k.finishRotation(); how != store.KeyTakenBack || err != nil {
		t.Errorf("with the right key: %d, %v", how, err)
	}
	k.start(k.Clock.Now())
}

func TestARotationIsRefusedWhereTheKeyCannotBeReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, other := filepath.Join(dir, "good"), filepath.Join(dir, "other")
	for _, path := range []string{good, other} {
		if _, err := seal.CreateKeyFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		root store.RootKeeper
		want error
		says string
	}{
		"from elsewhere":         {store.RootKeeper{Fixed: "the setting master_key"}, record.ErrDenied, "comes from the setting master_key"},
		"a file that is gone":    {store.RootKeeper{File: filepath.Join(dir, "none")}, fs.ErrNotExist, "find the key file"},
		"a file of another key":  {store.RootKeeper{File: other}, record.ErrDenied, "no longer holds the key"},
		"a file of no key":       {store.RootKeeper{File: filepath.Join(dir, "database")}, seal.ErrKey, ""},
		"a directory for a file": {store.RootKeeper{File: dir}, seal.ErrKey, "not a plain file"},
	} {
		f := storetest.New(t, func(s *storetest.Setup) { s.Root = c.root })
		env.OK(t, os.WriteFile(filepath.Join(dir, "database"), []byte("?"), 0o600))
		id := f.KeyID()
		_, err := f.RotateKey(ctx, storetest.Operator, false, quiet)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || f.KeyID() != id {
			t.Errorf("%s: %v", name, err)
		}
		if found, err := filepath.Glob(filepath.Join(dir, "*.next")); err != nil || len(found) > 0 {
			t.Errorf("%s: %q was left, %v", name, found, err)
		}
		f.Reopen()
	}
}

// A key whose disk is full stays, and the error says that room is missing.
func TestARotationIsRefusedWhereTheKeyHasNoRoom(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	k := newKeyed(t)
	small := filepath.Join(dir, storetest.KeyFile)
	env.OK(t, errors.Join(os.WriteFile(small, env.Read(t, k.key), 0o600), os.Remove(k.key), os.Symlink(small, k.key)))
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 64<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk of the key: %v", err)
	}
	id := k.KeyID()
	_, err := k.RotateKey(ctx, storetest.Operator, false, quiet)
	if !errors.Is(err, record.ErrFull) || errors.Is(err, record.ErrDenied) || !strings.Contains(err.Error(), small) || k.KeyID() != id {
		t.Errorf("the error is %v", err)
	}
	env.OK(t, os.Remove(filepath.Join(dir, "filler")))
	if _, err := k.RotateKey(ctx, storetest.Operator, true, quiet); err != nil || k.KeyID() == id {
		t.Errorf("with room: %v", err)
	}
}

// A ringer is an engine that lets a test interfere when the key ring is replaced.
type ringer struct {
	record.Engine
	before func() error
}

func (e ringer) SetKeyRing(ctx context.Context, sealed []byte, keys record.RowKeys, told record.AdminEvent) error {
	if err := e.before(); err != nil {
		return err
	}
	return e.Engine.SetKeyRing(ctx, sealed, keys, told)
}

// withRinger opens the store of k anew, so that before is called before its key ring
// is replaced.
func (k *keyed) withRinger(before func() error) *store.Store {
	k.t.Helper()
	env.OK(k.t, k.Close(ctx))
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: k.Path, Timeout: env.Patience})
	env.OK(k.t, err)
	s, err := store.Open(ctx, ringer{engine, before}, k.load(k.key), store.Options{
		Clock: k.Clock, Terms: storetest.Terms(), Root: store.RootKeeper{File: k.key},
	})
	env.OK(k.t, err)
	return s
}

func TestARotationThatTheStoreRefusesLeavesNothing(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	s, old := k.withRinger(func() error { return record.ErrFull }), k.load(k.key)
	if _, err := s.RotateKey(ctx, storetest.Operator, false, quiet); !errors.Is(err, record.ErrFull) || s.KeyID() != old.ID() {
		t.Errorf("the error is %v", err)
	}
	k.wantFiles("")
	env.OK(t, s.Close(ctx))
	k.start(k.Clock.Now())
}

// When it is unknown whether the ring was sealed, both keys stay until a start finds
// out.
func TestARotationOfUnknownOutcomeKeepsBothKeys(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	s := k.withRinger(func() error { return record.ErrFailed })
	if _, err := s.RotateKey(ctx, storetest.Operator, false, quiet); !errors.Is(err, record.ErrFailed) {
		t.Errorf("the error is %v", err)
	}
	k.wantFiles("", ".next")
	env.OK(t, s.Close(ctx))
	k.start(k.Clock.Now())
	if how, err := k.restart(); how != store.KeyTakenBack || err != nil {
		t.Errorf("the outcome is %d, %v", how, err)
	}
	k.wantFiles("")
}

// The key file is away at the moment when it is to be replaced; when it is back the
// next rotation first finishes this one.
func TestARotationThatCannotReplaceTheFileIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	away := k.key + "-away"
	s := k.withRinger(func() error { return os.Rename(k.key, away) })
	p, err := s.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")})
	env.OK(t, err)
	if _, err := s.RotateKey(ctx, storetest.Operator, false, quiet); err == nil || !strings.Contains(err.Error(), "is in "+k.key+".next and not yet in the key file") {
		t.Errorf("the error is %v", err)
	}
	env.OK(t, os.Rename(away, k.key))
	pending := k.load(k.key + ".next")
	if s.KeyID() != pending.ID() {
		t.Error("the key in use is not the one that waits")
	}
	env.OK(t, s.Close(ctx))
	s, err = store.Open(ctx, mustBolt(t, k.Path), pending, store.Options{Clock: k.Clock, Root: store.RootKeeper{File: k.key}})
	env.OK(t, err)
	k.Clock.Advance(time.Second)
	r, err := s.RotateKey(ctx, storetest.Operator, false, quiet)
	if err != nil || r.OldID != pending.ID() {
		t.Errorf("the next rotation: %+v, %v", r, err)
	}
	env.OK(t, s.Close(ctx))
	k.wantFiles("", ".old-20260101T000001Z", ".old-20260101T000001Z-2")
	k.start(k.Clock.Now())
	if _, err := k.Look(ctx, p.Token); err != nil {
		t.Errorf("the push: %v", err)
	}
}

func mustBolt(t *testing.T, path string) *bolt.DB {
	t.Helper()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: path, Timeout: env.Patience})
	env.OK(t, err)
	return engine
}

// A link to a key file stays a link; the file that it leads to is replaced.
func TestALinkToTheKeyFileStays(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	real := filepath.Join(t.TempDir(), "real.key")
	env.OK(t, errors.Join(os.Rename(k.key, real), os.Chmod(real, 0o640), os.Symlink(real, k.key)))
	r, err := k.RotateKey(ctx, storetest.Operator, false, quiet)
	if err != nil || r.File != real || filepath.Dir(r.Old) != filepath.Dir(real) {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, path := range []string{real, r.Old} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if target, err := os.Readlink(k.key); err != nil || target != real {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if how, err := k.restart(); how != store.NothingToFinish || err != nil {
		t.Errorf("at the next start: %d, %v", how, err)
	}
}

// quiet is a progress that is not shown.
func quiet(int64, int64) {}
