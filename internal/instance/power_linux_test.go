package instance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
	"pushbox/store"
	"pushbox/store/record"
)

func TestMain(m *testing.M) {
	if faultfs.Serve() {
		return
	}
	os.Exit(m.Run())
}

// Marks in the log of a first start.
const (
	markOpen = iota + 1
	markKept // a push was acknowledged
)

// start opens a store as `pushbox serve` does, and has it keep one more push.
func start(ctx context.Context, cfg config.Config) (t store.Token, err error) {
	s, _, err := Open(ctx, Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	if err != nil {
		return t, err
	}
	p, err := s.CreatePush(ctx, store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")})
	return p.Token, errors.Join(err, Close(ctx, s))
}

// wantStart fails the test unless a start finds a store in good order where there
// are files as a power cut left them, keeps the key that is there, and has the
// push of that token if it was acknowledged; it must not have it otherwise than
// whole.
func wantStart(t *testing.T, cfg config.Config, token store.Token, acknowledged bool) {
	t.Helper()
	key, keyErr := os.ReadFile(cfg.KeyFile())
	if _, err := os.Stat(Database(cfg)); err == nil && keyErr != nil {
		t.Errorf("there is a database and no key: %v", keyErr)
	}
	s, created, err := Open(t.Context(), Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	if err != nil {
		t.Errorf("it does not start: %v", err)
		return
	}
	defer closed(t, s)
	if now, err := os.ReadFile(cfg.KeyFile()); keyErr == nil && !bytes.Equal(now, key) {
		t.Errorf("another key was made over one that was there (%v)", err)
	}
	if acknowledged && created {
		t.Error("a database was made where there had been one")
	}
	p, err := s.Retrieve(t.Context(), store.Actor{}, token, secret.Text{}, nil)
	switch {
	case acknowledged && err != nil:
		t.Errorf("the push that was acknowledged: %v", err)
	case err == nil && p.Payload.Reveal() != "s3cret", err != nil && !errors.Is(err, record.ErrNotFound):
		t.Errorf("the push is not whole: %v", err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %q, %v", problems, err)
	}
	if names, err := os.ReadDir(cfg.DataDir); err != nil || len(names) > 2 {
		t.Errorf("there are %d files (%v)", len(names), err)
	}
}

// imageDir is a new directory for an image, in memory where the machine can.
func imageDir(t *testing.T) (dir string, remove func()) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pb")
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = os.MkdirTemp("", "pb")
	}
	env.OK(t, err)
	return dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// subsets calls fn with every subset of the changes that are pending, where those
// are not too many, and with some that chance makes, torn within a change.
func subsets(pending []faultfs.Entry, seed uint64, byChance int, fn func(how string, keep faultfs.Keep)) {
	const most = 8
	n := len(pending)
	for bits := range 1 << min(n, most) {
		shift := max(0, n-most) // of many, the subsets of the last; those before are kept or lost together
		for _, first := range []bool{true, false}[:min(2, 1+shift)] {
			fn(fmt.Sprintf("subset %b of the last, before them %t", bits, first), func(change, _ int) bool {
				if change < shift {
					return first
				}
				return bits>>(change-shift)&1 == 1
			})
		}
	}
	for i := range byChance {
		how, keep := faultfs.Chance(rand.New(rand.NewPCG(seed, uint64(i))), pending)
		fn(how, keep)
	}
}

// The power goes at every point of a first start, and leaves any subset of what
// was not synced: the next start works, and has what was acknowledged.
func TestAPowerCutDuringTheFirstStartDoesNoHarm(t *testing.T) {
	t.Parallel()
	seed, step := env.Seed(t), everyPoint(t)
	byChance := max(2, 40/step)
	disk := faultfs.Mount(t)
	s := opened(t, settingsFor(disk.Dir))
	disk.Mark(markOpen)
	p := env.Must(s.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")}))(t)
	disk.Mark(markKept)
	closed(t, s)
	log := disk.Log()
	replay, acknowledged, images := faultfs.NewReplay(log), false, 0
	for cut := 0; cut <= len(log) && !t.Failed(); cut++ {
		replay.Advance(cut)
		acknowledged = acknowledged || cut > 0 && log[cut-1].Kind == faultfs.Mark && log[cut-1].Node == markKept
		subsets(replay.Pending(), seed+uint64(cut), byChance, func(how string, keep faultfs.Keep) {
			if t.Failed() || images%step > 0 {
				images++
				return
			}
			images++
			dir, remove := imageDir(t)
			defer remove()
			env.OK(t, replay.Image(dir, keep))
			wantStart(t, settingsFor(dir), p.Token, acknowledged)
			if t.Failed() {
				t.Logf("the power went before entry %d of %d (%s); what was not synced: %v; all before: %v", cut, len(log), how, replay.Pending(), log[:cut])
			}
		})
	}
	t.Logf("%d entries, %d images", len(log), images)
}

// A first start ends in the middle, because it is killed or because its disk fails
// for a while; a second one completes it and acknowledges a push. Then the power
// goes. The key file lies beside the database, or on a disk of its own.
func TestWhatASecondStartAcknowledgesOutlastsAPowerCut(t *testing.T) {
	t.Parallel()
	everything := []faultfs.Kind{
		faultfs.Write, faultfs.Resize, faultfs.Create, faultfs.Remove, faultfs.Rename, faultfs.Link,
		faultfs.Sync, faultfs.SyncDir, faultfs.Open, faultfs.Read,
	}
	const forever = 1 << 20
	for name, times := range map[string]int{"one operation fails": 1, "all fail from there on": forever} {
		for place, apart := range map[string]bool{"beside": false, "apart": true} {
			t.Run(name+", key "+place, func(t *testing.T) {
				t.Parallel()
				data := faultfs.Mount(t)
				keys := data
				cfg := settingsFor(data.Dir)
				if apart {
					keys = faultfs.Mount(t)
					cfg.MasterKeyFile = filepath.Join(keys.Dir, "master.key")
				}
				for n, met := 1, true; met && !t.Failed(); n++ {
					met = startTwice(t, data, keys, cfg, faultfs.Fault{Kinds: everything, N: n, Times: times, Err: syscall.EIO})
				}
			})
		}
	}
}

// startTwice starts with a fault on the disk of the key and again without one,
// and judges what a power cut leaves then. It reports whether the fault was met.
func startTwice(t *testing.T, data, keys *faultfs.FS, cfg config.Config, fault faultfs.Fault) (met bool) {
	t.Helper()
	defer data.Reset()
	defer keys.Reset()
	keys.SetFault(fault)
	_, first := start(t.Context(), cfg)
	met = keys.Met()
	keys.SetFault(faultfs.Fault{})
	token, err := start(t.Context(), cfg)
	if err != nil {
		t.Errorf("fault %d of %d: the first start: %v; the second: %v", fault.N, fault.Times, first, err)
		return met
	}
	dir, remove := imageDir(t)
	defer remove()
	data.CutAll(dir)
	after := settingsFor(dir)
	if keys != data {
		keyDir, remove := imageDir(t)
		defer remove()
		keys.CutAll(keyDir)
		after.MasterKeyFile = filepath.Join(keyDir, "master.key")
	}
	wantStart(t, after, token, true)
	if t.Failed() {
		t.Logf("fault %d of %d; the first start: %v", fault.N, fault.Times, first)
	}
	return met
}
