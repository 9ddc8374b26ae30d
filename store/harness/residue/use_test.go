package residue

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/storetest"
)

// A scenario is a way in which pushes end.
type scenario struct {
	name string
	make func(w *world) []*secretPush // the pushes that are to end
	end  func(w *world, ps []*secretPush)
	busy bool // under load, too
}

func texts(w *world) []*secretPush {
	return []*secretPush{
		w.text(storetest.Anonymous, 1, ""), w.text(w.owner, 1, ""), w.text(w.owner, 1, "a passphrase"),
	}
}

func textsAndFiles(w *world) []*secretPush {
	return append(texts(w), w.files(w.owner, 1, 300_000, 10), w.files(storetest.Anonymous, 1, 70_000))
}

func scenarios(many int) []scenario {
	return []scenario{
		{"the last view", texts, func(w *world, ps []*secretPush) {
			for _, p := range ps {
				w.retrieve(p)
			}
		}, true},
		{"a delete", textsAndFiles, func(w *world, ps []*secretPush) {
			for _, p := range ps {
				w.remove(p)
			}
		}, true},
		{"the end of the grants of files", func(w *world) []*secretPush {
			return []*secretPush{w.files(w.owner, 1, 300_000), w.files(storetest.Anonymous, 1, 2<<20)}
		}, func(w *world, ps []*secretPush) {
			for _, p := range ps {
				storetest.Grant(w.t, w.Fixture, storetest.Anonymous, p.PushInfo)
			}
			w.Clock.Advance(time.Hour)
			w.sweep()
		}, false},
		{"an expiry of many", func(w *world) []*secretPush {
			return append(w.many(many), textsAndFiles(w)...)
		}, func(w *world, _ []*secretPush) {
			w.Clock.Advance(8 * day)
			w.sweep()
		}, true},
		{"an edit and a delete", textsAndFiles, func(w *world, ps []*secretPush) {
			for _, p := range ps {
				if !p.anonymous {
					w.edit(p)
				}
				w.remove(p)
			}
		}, false},
		{"the removal of an account", func(w *world) []*secretPush {
			return append(w.many(min(many, 300)), w.files(w.owner, 2, 100_000))
		}, func(w *world, ps []*secretPush) {
			env.OK(w.t, w.RemoveAccount(ctx, storetest.Operator, storetest.Email))
			for _, p := range ps {
				p.purged = true
			}
		}, false},
		{"a rotation of the keys", func(w *world) []*secretPush { return w.many(min(many, 300)) }, func(w *world, ps []*secretPush) {
			for range 4 {
				before, _ := w.ring()
				w.rings = append(w.rings, before)
				w.Clock.Advance(32 * day) // which ends the pushes, too
				w.sweep()
				before, _ = w.ring()
				w.rings = append(w.rings, before)
				env.Must(w.RotateKey(ctx, storetest.Operator, true, func(int64, int64) {}))(w.t)
			}
		}, false},
		{"a compaction", textsAndFiles, func(w *world, ps []*secretPush) {
			f := env.Must(os.Open(w.Path))(w.t)
			w.t.Cleanup(func() { _ = f.Close() })
			w.old = append(w.old, f)
			for _, p := range ps {
				w.remove(p)
			}
			_, _, err := w.Compact(ctx, storetest.Operator, func(int64, int64) {})
			env.OK(w.t, err)
		}, false},
	}
}

func (w *world) retrieve(p *secretPush) {
	w.t.Helper()
	got, err := w.Retrieve(ctx, storetest.Anonymous, p.Token, p.passphrase, nil)
	if err != nil || got.Payload.IsZero() {
		w.t.Fatalf("retrieve: %v", err)
	}
}

func (w *world) remove(p *secretPush) {
	w.t.Helper()
	by := w.owner
	if p.anonymous {
		by = storetest.Anonymous
	}
	env.Must(w.DeletePush(ctx, by, p.Token))(w.t)
}

func (w *world) edit(p *secretPush) {
	w.t.Helper()
	days, views := 30, 50
	env.Must(w.EditPush(ctx, w.owner, p.Token, store.PushEdit{Days: &days, Views: &views}))(w.t)
}

func (w *world) sweep() {
	w.t.Helper()
	env.Must(w.Sweep(ctx))(w.t)
}

// play has the pushes of a scenario made and ended, and returns when the end began.
func (w *world) play(s scenario) time.Time {
	w.t.Helper()
	w.text(w.owner, 100, "") // some stay
	ps := s.make(w)
	w.remember()
	s.end(w, ps)
	w.end(ps...)
	return time.Now()
}

// many is how many pushes expire at once.
func many(t *testing.T) int { return int(env.Length(t, "PUSHBOX_TEST_RESIDUE_PUSHES")) }

// inBubble runs a subtest in which time passes only while all goroutines wait: what the
// machine takes to do something takes no time.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

func TestNothingIsLeftFiveSecondsAfterAnEnd(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(many(t)) {
		for name, busy := range map[string]bool{"quiet": false, "under load": true} {
			if busy && !(env.Long() && s.busy) {
				continue
			}
			inBubble(t, s.name+", "+name, func(t *testing.T) {
				w := newWorld(t, true)
				if busy {
					defer w.load()()
				}
				w.gone(w.play(s))
			})
		}
	}
}

// A clean stop leaves nothing, not even for a moment; and what a kill leaves is gone five
// seconds after the next start.
func TestNothingIsLeftAfterAStopAndAfterTheNextStart(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(30) {
		inBubble(t, s.name, func(t *testing.T) {
			w := newWorld(t, false) // as if it were killed at once, each time
			w.play(s)
			killed := &world{t: t, erase: true, dir: t.TempDir(), over: w.over, values: w.values, rings: w.rings}
			for _, name := range []string{filepath.Base(w.Path), filepath.Base(w.keyFile())} {
				env.OK(w.t, os.WriteFile(filepath.Join(killed.dir, name), env.Read(t, filepath.Join(w.dir, name)), 0o600))
			}
			started := time.Now()
			killed.open(w.Clock)
			killed.gone(started)
			env.OK(w.t, killed.stop())

			stopped := newWorld(t, true)
			stopped.play(s)
			_, ring := stopped.ring()
			env.OK(w.t, stopped.stop())
			if f := stopped.lookIn(stopped.pieces(), ring); len(f) > 0 {
				t.Errorf("after a clean stop there are left: %s", f)
			}
		})
	}
}

// The search finds what there is to find: without erasure, each kind of thing.
func TestWithoutErasureEverythingIsFound(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	all := make(found)
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range scenarios(many(t)) {
			inBubble(t, s.name, func(t *testing.T) {
				w := newWorld(t, false)
				w.play(s)
				w.folded()
				inForce, _ := w.ring() // a rotation leaves no other: it ends with a compaction
				w.rings = append(w.rings, inForce)
				f := w.look(w.pieces())
				t.Logf("of %d pushes there are left: %s", len(w.over), f)
				mu.Lock()
				defer mu.Unlock()
				for k, n := range f {
					all[k] += n
				}
			})
		}
	})
	for _, k := range []kind{wrap, payload, chunk, link, details, ring} {
		if all[k] == 0 {
			t.Errorf("no %s is found", k)
		}
	}
}
