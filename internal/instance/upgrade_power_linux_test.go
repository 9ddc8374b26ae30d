package instance

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
	"pushbox/store"
)

// everyPoint is the distance between the points at which an upgrade or a rotation is cut short.
func everyPoint(t *testing.T) int {
	t.Helper()
	return int(max(100/env.Length(t, "PUSHBOX_TEST_BOOT_PERCENT"), 1))
}

// everyImage calls fn with what a power cut may leave, at each point behind the mark of a
// log, in a directory of its own. Where there are many such images, it is one in every.
func everyImage(t *testing.T, log []faultfs.Entry, every int, fn func(cfg config.Config)) {
	t.Helper()
	seed, replay, images := env.Seed(t), faultfs.NewReplay(log), 0
	every *= everyPoint(t)
	n := int(seed % uint64(every))
	marked := slices.IndexFunc(log, func(e faultfs.Entry) bool { return e.Kind == faultfs.Mark })
	for cut := marked; cut <= len(log) && !t.Failed(); cut++ {
		replay.Advance(cut)
		few := len(replay.Pending()) <= 4
		subsets(replay.Pending(), seed+uint64(cut), 2, func(how string, keep faultfs.Keep) {
			if n++; t.Failed() || !few && n%every != 0 {
				return
			}
			images++
			dir, remove := imageDir(t)
			defer remove()
			env.OK(t, replay.Image(dir, keep))
			fn(settingsFor(dir))
			if t.Failed() {
				t.Logf("the power went before entry %d of %d (%s); what was not synced: %v; all before: %v", cut, len(log), how, replay.Pending(), log[marked:cut])
			}
		})
	}
	t.Logf("%d entries, %d images", len(log)-marked, images)
}

// wantWhole fails the test unless a start finds a store in good order that is not a
// new one, and that has the push of that token.
func wantWhole(t *testing.T, cfg config.Config, token store.Token) {
	t.Helper()
	s, created, err := Open(t.Context(), Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	if err != nil || created {
		t.Errorf("it does not start: %t, %v", created, err)
		return
	}
	defer closed(t, s)
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %q, %v", problems, err)
	}
	if token.IsZero() {
		return
	}
	if p, err := s.Retrieve(t.Context(), store.Actor{}, token, secret.Text{}, nil); err != nil || p.Payload.Reveal() != "s3cret" {
		t.Errorf("the push: %v", err)
	}
}

// wantKeys fails the test unless there is a key file and no key that waits, and the
// old key is kept if the key is another. It reports whether that is so.
func wantKeys(t *testing.T, cfg config.Config, old []byte) (another bool) {
	t.Helper()
	_, err := os.Stat(cfg.KeyFile() + ".next")
	env.ErrorIs(t, "a key still waits", err, fs.ErrNotExist)
	now, err := os.ReadFile(cfg.KeyFile())
	if err != nil || bytes.Equal(now, old) {
		return false
	}
	kept, err := filepath.Glob(cfg.KeyFile() + ".old-*")
	if err != nil || len(kept) != 1 {
		t.Errorf("%q are kept, %v", kept, err)
		return true
	}
	if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, old) {
		t.Errorf("the key that is kept is not the old one, %v", err)
	}
	return true
}

// wantRenewed fails the test unless a server can finish a rotation that was cut short,
// and all is in good order when it has.
func wantRenewed(t *testing.T, cfg config.Config) {
	t.Helper()
	for _, again := range []bool{false, true} {
		s := opened(t, cfg)
		r, err := s.FinishRenewal(t.Context(), func(int64, int64) {})
		if err != nil || again && r.Records > 0 {
			t.Errorf("it does not end (again: %t): %+v, %v", again, r, err)
		}
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("check: %q, %v", problems, err)
		}
		closed(t, s)
	}
}

// The power goes at every point of a rotation of the key, and leaves any subset of
// what was not synced: the next start finds the key that opens the database, and
// keeps the old one.
func TestAPowerCutDuringARotationOfTheKeyDoesNoHarm(t *testing.T) {
	t.Parallel()
	disk := faultfs.Mount(t)
	cfg := settingsFor(disk.Dir)
	token := env.Must(start(t.Context(), cfg))(t)
	s := opened(t, cfg)
	old := env.Read(t, cfg.KeyFile())
	disk.Mark(markOpen)
	env.Must(s.RotateKey(t.Context(), store.Actor{Role: store.Operator}, false, func(int64, int64) {}))(t)
	closed(t, s)
	same, another := 0, 0
	everyImage(t, disk.Log(), 2, func(cfg config.Config) {
		wantWhole(t, cfg, token)
		wantRenewed(t, cfg)
		if wantKeys(t, cfg, old) {
			another++
		} else {
			same++
		}
	})
	if same == 0 || another == 0 {
		t.Errorf("%d images had the old key and %d the new one", same, another)
	}
}

// A rotation meets a disk that fails, once or from there on; the next start finds the
// key that opens the database.
func TestARotationOfTheKeyOnADiskThatFailsDoesNoHarm(t *testing.T) {
	t.Parallel()
	disk := faultfs.Mount(t)
	cfg := settingsFor(disk.Dir)
	everything := []faultfs.Kind{
		faultfs.Write, faultfs.Create, faultfs.Remove, faultfs.Rename, faultfs.Link, faultfs.Sync, faultfs.SyncDir, faultfs.Open, faultfs.Read,
	}
	const forever = 1 << 20
	failed, step := 0, everyPoint(t)
	first := 1 + int(env.Seed(t)%uint64(step))
	for _, times := range []int{1, forever} {
		for n, met := first, true; met && !t.Failed(); n += step {
			token := env.Must(start(t.Context(), cfg))(t)
			s := opened(t, cfg)
			old := env.Read(t, cfg.KeyFile())
			disk.SetFault(faultfs.Fault{Kinds: everything, N: n, Times: times, Err: syscall.EIO})
			if _, err := s.RotateKey(t.Context(), store.Actor{Role: store.Operator}, false, func(int64, int64) {}); err != nil {
				failed++
			}
			met = disk.Met()
			disk.SetFault(faultfs.Fault{})
			_ = Close(t.Context(), s) // it may have failed
			wantWhole(t, cfg, token)
			wantRenewed(t, cfg)
			wantKeys(t, cfg, old)
			if t.Failed() {
				t.Logf("fault %d of %d", n, times)
			}
			disk.Reset()
		}
	}
	if failed < 10 {
		t.Errorf("only %d rotations failed", failed)
	}
}

// The power goes at every point of an upgrade from an older schema: the next start
// finds the old database or the new one, whole, and beside the new one the old.
func TestAPowerCutDuringAnUpgradeDoesNoHarm(t *testing.T) {
	t.Parallel()
	disk := faultfs.Mount(t)
	cfg := settingsFor(disk.Dir)
	const golden = "../../testdata/databases/schema-4"
	image := env.Read(t, filepath.Join(golden, "pushbox.db"))
	putFile(t, Database(cfg), image)
	key := env.Read(t, filepath.Join(golden, "master.key"))
	putFile(t, cfg.KeyFile(), key)
	env.OK(t, durable.SyncDir(cfg.DataDir))
	disk.Mark(markOpen)
	closed(t, opened(t, cfg))
	before, after := 0, 0
	everyImage(t, disk.Log(), 31, func(cfg config.Config) {
		found := env.Read(t, Database(cfg))
		if bytes.Equal(found, image) {
			before++
		} else {
			after++
			if kept, err := os.ReadFile(Database(cfg) + ".schema4"); err != nil || !bytes.Equal(kept, image) {
				t.Errorf("the file was changed, and the copy has %d bytes, %v", len(kept), err)
			}
		}
		wantWhole(t, cfg, store.Token{})
		if kept, err := os.ReadFile(Database(cfg) + ".schema4"); err != nil || !bytes.Equal(kept, image) {
			t.Errorf("the copy has %d bytes, %v", len(kept), err)
		}
		if names, err := os.ReadDir(cfg.DataDir); err != nil || len(names) != 3 {
			t.Errorf("there are %d files, %v", len(names), err)
		}
	})
	if before == 0 || after == 0 {
		t.Errorf("%d images were before the change and %d after it", before, after)
	}
}

// putFile writes a file that lasts.
func putFile(t *testing.T, path string, b []byte) {
	t.Helper()
	f := env.Must(os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600))(t)
	_, err := f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	env.OK(t, err)
}
