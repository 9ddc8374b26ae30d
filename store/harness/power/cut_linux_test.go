package power

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
)

// imagesPerRun is how many images are made of one recorded run.
const imagesPerRun = 2500

// The test records a store at work on faultfs. Then it cuts the power thousands of
// times, at any point of the record, keeping any subset of what was not synced: each
// time the store must open and keep its promises.
func TestAPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	images, seed := env.Length(t, "PUSHBOX_TEST_POWER_IMAGES"), env.Seed(t)
	fs, total := faultfs.Mount(t), new(tally)
	for first := uint64(0); first < images && !t.Failed(); first += imagesPerRun {
		r := recordLoad(t, fs, seed+first)
		r.cutAll(t, total, seed, first, min(images, first+imagesPerRun))
		fs.Reset()
	}
	t.Logf("%d images: %s", images, total)
	for _, kind := range []string{"all synced", "torn", "all lost", "a rename unsynced"} {
		if images >= 1000 && total.of(kind) == 0 {
			t.Errorf("no image was of the kind %q", kind)
		}
	}
}

// A disk that ignores syncs breaks the promises, and the oracle sees it.
func TestTheOracleSeesADiskThatDoesNotSync(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	fs := faultfs.Mount(t)
	r := recordLoad(t, fs, seed)
	r.log = slices.Clone(r.log)
	for i := len(r.log) / 2; i < len(r.log); i++ {
		if k := r.log[i].Kind; k == faultfs.Sync || k == faultfs.SyncDir {
			r.log[i].Kind = faultfs.Read
		}
	}
	replay := faultfs.NewReplay(r.log)
	for n := range uint64(10) {
		c := r.plan(seed, n, func(float64) float64 { return (30 + float64(n)) / 40 })
		replay.Advance(c.at)
		if found := r.judge(t, replay, c, func(int, int) bool { return false }); len(found) == 0 {
			t.Errorf("image %d: half of the record is lost, but the oracle found nothing wrong", n)
		}
	}
}

// A tally counts images by kind.
type tally struct {
	mu    sync.Mutex
	kinds map[string]int
}

func (p *tally) add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil {
		p.kinds = make(map[string]int)
	}
	p.kinds[kind]++
}

func (p *tally) of(kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kinds[kind]
}

func (p *tally) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(p.kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, p.kinds[k]))
	}
	return strings.Join(parts, ", ")
}

// A cut is one image of a record: where the power is cut, and what is left.
type cut struct {
	number  uint64
	at      int  // the entry of the log before which the power is cut
	setBack bool // the clock, to the beginning
	chance  *rand.Rand
}

// plan chooses the cut of a number. part maps how far the number is through all
// numbers, from 0 to 1, to how far the cut is through the record.
func (r *recording) plan(seed, number uint64, part func(within float64) float64) cut {
	rng := rand.New(rand.NewPCG(seed, number))
	at := r.cuts[int(part(rng.Float64())*float64(len(r.cuts)))]
	return cut{number, at, rng.IntN(4) == 0, rng}
}

// chooseCuts lists the entries of the log before which to cut: each once, and several
// times those where a name has changed and the directory is not synced.
func (r *recording) chooseCuts() {
	const times = 10
	unsynced := false
	for i, e := range r.log {
		r.cuts = append(r.cuts, slices.Repeat([]int{i}, map[bool]int{false: 1, true: times}[unsynced])...)
		switch e.Kind {
		case faultfs.Rename, faultfs.Remove, faultfs.Link:
			unsynced = true
		case faultfs.SyncDir:
			unsynced = false
		}
	}
	r.cuts = append(r.cuts, len(r.log))
}

// cutAll makes and judges the images of those numbers. Each worker takes a part of the
// log.
func (r *recording) cutAll(t *testing.T, total *tally, seed, from, to uint64) {
	t.Helper()
	workers := uint64(runtime.GOMAXPROCS(0))
	var failed atomic.Int32
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			replay := faultfs.NewReplay(r.log)
			for n := from + (to-from)*w/workers; n < from+(to-from)*(w+1)/workers && failed.Load() < 3; n++ {
				plan := func() cut {
					return r.plan(seed, n, func(within float64) float64 { return (float64(n-from) + within) / float64(to-from) })
				}
				c := plan()
				replay.Advance(c.at)
				pending := replay.Pending()
				how, keep := faultfs.Chance(c.chance, pending)
				total.add(how)
				if slices.ContainsFunc(pending, func(e faultfs.Entry) bool { return e.Kind == faultfs.Rename }) {
					total.add("a rename unsynced")
				}
				if found := r.judge(t, replay, c, keep); len(found) > 0 {
					failed.Add(1)
					c := plan() // repeats the choices
					_, keep := faultfs.Chance(c.chance, pending)
					r.tell(t, replay, c, how, keep, found)
				}
			}
		})
	}
	wg.Wait()
}

// lately reports whether a push was used shortly before an entry of the log.
func (r *recording) lately(p *knownPush, at int) bool {
	const shortly = 150
	used := func(s interval) bool {
		return r.before(at)(s.sent) && (!r.before(at)(s.done) || !r.before(at-shortly)(s.done))
	}
	return used(p.created) || slices.ContainsFunc(p.deeds, func(d *action) bool { return used(d.interval) })
}

// judge makes an image and judges it.
func (r *recording) judge(t *testing.T, replay *faultfs.Replay, c cut, keep faultfs.Keep) (found []string) {
	t.Helper()
	dir, err := os.MkdirTemp(memoryDir(), "pushbox-power-")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := replay.Image(dir, keep); err != nil {
		t.Errorf("image %d: %v", c.number, err)
		return nil
	}
	return judgeImage(t.Context(), dir, image{
		root: r.root, owner: r.owner, ledger: r.ledger, before: r.before(c.at), setBack: c.setBack,
		useUp: func(p *knownPush) bool { return r.lately(p, c.at) || c.chance.IntN(8) == 0 },
	})
}

// tell reports what is wrong with an image and how it was made, and keeps it with the
// artifacts.
func (r *recording) tell(t *testing.T, replay *faultfs.Replay, c cut, how string, keep faultfs.Keep, found []string) {
	t.Helper()
	const most = 40
	dir := filepath.Join(t.ArtifactDir(), fmt.Sprintf("image-%d", c.number))
	parts := make(map[int]string)
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = replay.Image(dir, func(change, part int) bool {
			kept := keep(change, part)
			if kept {
				parts[change] += fmt.Sprintf(" %d", part)
			}
			return kept
		})
	}
	var text strings.Builder
	for i, e := range replay.Pending() {
		fmt.Fprintf(&text, "\n  not synced: %v; kept, of %d sectors (%d: all, or the size):%s", e, e.Sectors(), faultfs.Whole, parts[i])
	}
	for _, e := range r.log[max(0, c.at-most):c.at] {
		fmt.Fprintf(&text, "\n  %v", e)
	}
	t.Errorf("image %d (%s), before entry %d of %d, clock set back %t: %d faults (%v); -artifacts keeps it\n%s\nthe log before it:%s",
		c.number, how, c.at, len(r.log), c.setBack, len(found), err, strings.Join(found[:min(len(found), most)], "\n"), text.String())
}

// memoryDir is a directory in memory, where the machine has one.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}
