package power

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// diskFaults are the faults to try, each on every operation of its kinds.
func diskFaults() map[string]faultfs.Fault {
	write, sync := []faultfs.Kind{faultfs.Write}, []faultfs.Kind{faultfs.Sync, faultfs.SyncDir}
	names := []faultfs.Kind{faultfs.Create, faultfs.Link, faultfs.Rename, faultfs.Remove}
	return map[string]faultfs.Fault{
		"a write, EIO":                      {Kinds: write, Err: syscall.EIO},
		"a write, ENOSPC":                   {Kinds: write, Err: syscall.ENOSPC},
		"half a write, ENOSPC":              {Kinds: write, Half: true, Err: syscall.ENOSPC},
		"a sync, EIO":                       {Kinds: sync, Err: syscall.EIO},
		"a sync, ENOSPC":                    {Kinds: sync, Err: syscall.ENOSPC},
		"a resize, EIO":                     {Kinds: []faultfs.Kind{faultfs.Resize}, Err: syscall.EIO},
		"a resize, ENOSPC":                  {Kinds: []faultfs.Kind{faultfs.Resize}, Err: syscall.ENOSPC},
		"a name, EIO":                       {Kinds: names, Err: syscall.EIO},
		"a name, ENOSPC":                    {Kinds: names, Err: syscall.ENOSPC},
		"an open, EIO":                      {Kinds: []faultfs.Kind{faultfs.Open}, Err: syscall.EIO},
		"an open, EMFILE":                   {Kinds: []faultfs.Kind{faultfs.Open}, Err: syscall.EMFILE},
		"a read (twice), EIO":               {Kinds: []faultfs.Kind{faultfs.Read}, Err: syscall.EIO, Times: 2},
		"a disk that is dead from there on": {Kinds: allKinds(), Err: syscall.EIO, Times: 1 << 20},
	}
}

// allKinds are the kinds that can fail.
func allKinds() []faultfs.Kind {
	return []faultfs.Kind{
		faultfs.Write, faultfs.Resize, faultfs.Create, faultfs.Remove, faultfs.Rename, faultfs.Link,
		faultfs.Sync, faultfs.SyncDir, faultfs.Open, faultfs.Read,
	}
}

// Whichever operation of the disk fails, the store returns one of its errors, stops
// where the outcome is unknown, and has lost nothing when it is opened again, even if
// the power is cut at that moment.
func TestEveryOperationOfTheDiskMayFail(t *testing.T) {
	t.Parallel()
	percent, seed := env.Length(t, "PUSHBOX_TEST_IO_PERCENT"), env.Seed(t)
	seeds, stride := max(percent/100, 1), int(max(100/percent, 1))
	total := new(tally)
	t.Run("faults", func(t *testing.T) {
		faults := diskFaults()
		for name, fault := range faults {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				fs, stride := faultfs.Mount(t), stride
				if fault.Times > 2 {
					stride *= 5 // wherever it begins, all later operations fail
				}
				for s := range seeds {
					tryFault(t, fs, fault, seed+s, stride, total)
				}
			})
		}
	})
	t.Logf("how the runs ended: %s", total)
}

// tryFault makes one operation after the other fail, in each part of the scenario.
func tryFault(t *testing.T, fs *faultfs.FS, fault faultfs.Fault, seed uint64, stride int, total *tally) {
	t.Helper()
	scenes, script := prepareScenes(t, fs, seed), script()
	for part, scene := range scenes {
		for fault.N = 1 + int(seed%uint64(stride)); !t.Failed(); fault.N += stride {
			fs.Restore(part)
			fs.SetFault(fault)
			r := faultRun{fs: fs, scene: scene.clone(), fault: fault, script: script, part: part}
			ended := r.run(t)
			total.add(ended)
			if ended == notMet {
				break
			}
		}
	}
	fs.Reset()
}

// prepareScenes plays the scenario without a fault, and saves the disk and the scene at
// the beginning of each part.
func prepareScenes(t *testing.T, fs *faultfs.FS, seed uint64) (scenes []*scene) {
	t.Helper()
	s := &scene{dir: fs.Dir, root: seal.NewRootKey(), clock: storetest.NewClock(), ledger: new(ledger), seed: seed}
	for i, part := range script() {
		fs.Save(i)
		scenes = append(scenes, s.clone())
		for n, step := range part {
			if err := s.take(t.Context(), step, 100*i+n); err != nil {
				t.Fatalf("PUSHBOX_TEST_SEED=%d, part %d, step %d (%s): %v", seed, i, n, step.name, err)
			}
		}
	}
	return scenes
}

// A short write does not matter where the rest can be written.
func TestShortWritesAreContinued(t *testing.T) {
	t.Parallel()
	fs, seed := faultfs.Mount(t), env.Seed(t)
	fs.SetFault(faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Write}, N: 1, Times: 1 << 20, Half: true})
	scenes := prepareScenes(t, fs, seed)
	last := len(scenes) - 1
	fs.Restore(last)
	r := faultRun{fs: fs, scene: scenes[last], script: script(), part: last}
	if ended := r.run(t); ended != notMet {
		t.Errorf("without a fault it ended: %s", ended)
	}
}

// A faultRun is one run of the scenario with one fault, from the beginning of a part to
// the end of the next.
type faultRun struct {
	fs     *faultfs.FS
	scene  *scene
	fault  faultfs.Fault
	script [][]step
	part   int
	met    bool // before the fault was removed
}

// notMet is how a run ends that never met the fault.
const notMet = "not met"

// run returns in a word how the run ended.
func (r *faultRun) run(t *testing.T) (ended string) {
	t.Helper()
	ended, told := r.play(t.Context())
	if r.scene.trackedStore != nil {
		if err := r.scene.close(t.Context()); err != nil && !r.listed(err) && !r.tells(err) {
			told = append(told, fmt.Sprintf("close: %v", err))
		}
	}
	r.heal()
	how, found := r.look(t)
	if told = append(told, found...); len(told) > 0 {
		t.Errorf("PUSHBOX_TEST_SEED=%d, part %d, fault %+v, %s; the power cut left: %s\n%s",
			r.scene.seed, r.part, r.fault, ended, how, strings.Join(told, "\n"))
	}
	return ended
}

// afterEffects is how many steps follow after the fault showed.
const afterEffects = 3

// play takes steps until the store has failed, or afterEffects steps after the fault.
// It returns how that ended and what was wrong.
func (r *faultRun) play(ctx context.Context) (ended string, told []string) {
	ended = "went on"
	for part, left := r.part, len(r.script)*100; part < min(r.part+2, len(r.script)) && left > 0; part++ {
		for n, step := range r.script[part] {
			word, wrong := r.take(ctx, step, 100*part+n)
			for _, w := range wrong {
				told = append(told, fmt.Sprintf("step %d (%s): %s", n, step.name, w))
			}
			if word != "" {
				ended, left = word, min(left, afterEffects)
			}
			if left--; left == 0 || word == "failed" || r.scene.trackedStore == nil && step.name != "close" {
				return ended, told
			}
		}
		if !r.met && !r.fs.Met() {
			return notMet, told
		}
	}
	return ended, told
}

// heal removes the fault.
func (r *faultRun) heal() {
	r.met = r.met || r.fs.Met()
	r.fs.SetFault(faultfs.Fault{})
}

// take takes a step. It returns the outcome in a word, "" if all is well, and what was wrong.
func (r *faultRun) take(ctx context.Context, step step, number int) (word string, wrong []string) {
	s := r.scene
	err := s.take(ctx, step, number)
	switch {
	case err == nil:
		return "", nil
	case step.bare() && !r.listed(err) && !r.tells(err):
		return step.name, []string{err.Error()}
	case step.name == "open":
		r.heal()
		if err := s.take(ctx, step, number); err != nil {
			return "stays shut", []string{"it does not open without the fault: " + err.Error()}
		}
		return "did not open, and then did", nil
	case errors.Is(err, record.ErrFailed) && s.trackedStore != nil:
		return "failed", wantClosed(ctx, s.Store)
	case errors.Is(err, record.ErrFull):
		return "full, and went on", nil
	case step.bare():
		return step.name + " gave up", nil
	default:
		return step.name, []string{err.Error()}
	}
}

// listed reports whether an error is one that the store documents for faults of the
// disk.
func (r *faultRun) listed(err error) bool {
	return slices.ContainsFunc([]error{record.ErrFailed, record.ErrFull, record.ErrCorrupt}, func(e error) bool { return errors.Is(err, e) })
}

// tells reports whether an error names the fault, if only in words. For a fault in a
// mapping the system does not say which it was.
func (r *faultRun) tells(err error) bool {
	text := err.Error()
	return r.fault.Err != 0 && (strings.Contains(text, r.fault.Err.Error()) || strings.Contains(text, "cannot be read back"))
}

// wantClosed verifies that a failed store refuses everything.
func wantClosed(ctx context.Context, s *store.Store) (told []string) {
	select {
	case <-s.Failed():
	default:
		told = append(told, "it has failed, and does not report that")
	}
	_, created := s.CreatePush(ctx, storetest.Anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("late")})
	_, listed := s.Pushes(ctx, storetest.Anonymous, true, 1)
	_, swept := s.Sweep(ctx)
	for name, err := range map[string]error{"create": created, "list": listed, "sweep": swept} {
		if !errors.Is(err, record.ErrFailed) {
			told = append(told, fmt.Sprintf("after it has failed, %s: %v", name, err))
		}
	}
	return told
}

// look opens the store again and has it acknowledge one more push. Then it cuts the
// power: once losing all that was not synced and, in every other run, once losing a
// random part.
func (r *faultRun) look(t *testing.T) (how string, found []string) {
	t.Helper()
	s := r.scene
	again := s.take(t.Context(), step{"open", (*scene).open}, 0)
	if again == nil {
		again = errors.Join(s.take(t.Context(), step{"create", (*scene).createOne}, 0), s.close(t.Context()))
	}
	if again != nil {
		found = append(found, "after a restart: "+again.Error())
	}
	some := rand.New(rand.NewPCG(s.seed, uint64(r.fault.N)))
	after := image{
		root: s.root, owner: s.owner, ledger: s.ledger, before: answered,
		useUp: func(*knownPush) bool { return some.IntN(6) == 0 },
	}
	cuts := []func(dir string){r.fs.CutAll}
	if r.fault.N%2 == 1 {
		cuts = append(cuts, func(dir string) { how = r.fs.Cut(dir, s.seed, uint64(r.fault.N)) })
	}
	for _, cut := range cuts {
		dir := env.Must(os.MkdirTemp(memoryDir(), "pushbox-io-"))(t)
		cut(dir)
		found = append(found, judgeImage(t.Context(), dir, after)...)
		env.OK(t, os.RemoveAll(dir))
	}
	return how, found
}
