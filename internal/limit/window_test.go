package limit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pushbox/internal/limit"
)

func TestAWindowIsFullFromItsLastHitUntilItsFirstIsPast(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(3, time.Minute, manyKeys, now.clock())
	full := func(want bool, retry time.Duration) {
		t.Helper()
		if got, after := w.Full("a"); got != want || after != retry {
			t.Fatalf("at %v: full is %v, retry after %v; want %v, %v", now.clock()(), got, after, want, retry)
		}
	}
	full(false, 0)
	w.Add("a") // at 0 s
	now.move(10 * time.Second)
	w.Add("a") // at 10 s
	full(false, 0)
	w.Add("a") // at 10 s
	full(true, 50*time.Second)
	now.move(50*time.Second - 1)
	full(true, 1)
	now.move(1) // the hit at 0 s is past
	full(false, 0)
	w.Add("a") // at 60 s
	full(true, 10*time.Second)
	now.move(10 * time.Second) // both hits at 10 s are
	full(false, 0)
	w.Add("a") // at 70 s
	full(false, 0)
	w.Add("a") // at 70 s
	full(true, 50*time.Second)
	if other, _ := w.Full("b"); other {
		t.Error("another key is full")
	}
}

func TestHitsPastTheLimitCountToo(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(2, time.Minute, manyKeys, now.clock())
	for range 5 {
		w.Add("a")
		now.move(10 * time.Second)
	}
	// The last two hits were at 30 s and 40 s; it is 50 s.
	if full, after := w.Full("a"); !full || after != 40*time.Second {
		t.Errorf("full is %v, retry after %v", full, after)
	}
}

func TestAWindowOfZeroIsNeverFull(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, -1} {
		var now fakeClock
		w := limit.NewWindow(n, time.Minute, 1, now.clock())
		for range 100 {
			w.Add("a")
			if full, _ := w.Full("a"); full {
				t.Fatalf("a window of %d is full", n)
			}
		}
	}
}

func TestAWindowForgetsTheKeyWithTheOldestLastHit(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(1, time.Hour, 3, now.clock())
	for _, key := range []string{"a", "b", "c", "a", "d"} {
		w.Add(key)
		w.Full("b") // asking is not a hit
		now.move(time.Second)
	}
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if full, _ := w.Full(key); full != want {
			t.Errorf("%s is full: %v", key, full)
		}
	}
}

func TestAWindowOfNoKeysKeepsOne(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(1, time.Hour, 0, now.clock())
	w.Add("a")
	if full, _ := w.Full("a"); !full {
		t.Error("the only key was forgotten")
	}
}

func TestLongKeysAreToldApart(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(1, time.Hour, manyKeys, now.clock())
	for _, length := range []int{0, 1, 63, 64, 65, 100_000} {
		hit, other := strings.Repeat("x", length), strings.Repeat("x", length)+"y"
		if full, _ := w.Full(hit); full {
			t.Errorf("a key of %d bytes is full before its hit", length)
		}
		w.Add(hit)
		if full, _ := w.Full(hit); !full {
			t.Errorf("a key of %d bytes is not full", length)
		}
		if full, _ := w.Full(other); full {
			t.Errorf("the key that is longer than %d bytes is full", length)
		}
	}
}

func TestAWindowCountsEachHitUnderConcurrency(t *testing.T) {
	t.Parallel()
	const workers, hits = 8, 50
	var now fakeClock
	w := limit.NewWindow(workers*hits+1, time.Minute, manyKeys, now.clock())
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for range hits {
				w.Add("a")
				w.Add(fmt.Sprint(i))
				if full, _ := w.Full("a"); full {
					t.Error("full too soon")
				}
			}
		})
	}
	wg.Wait()
	w.Add("a")
	if full, after := w.Full("a"); !full || after != time.Minute {
		t.Errorf("after all hits: full is %v, retry after %v", full, after)
	}
}

// naive is a window that keeps all hits for ever.
type naive struct {
	n    int
	per  time.Duration
	hits map[string][]time.Duration
}

// full counts the hits of the window that ends now, and finds when there is room again.
func (m *naive) full(key string, now time.Duration) (bool, time.Duration) {
	room := func(at time.Duration) bool {
		inside := 0
		for _, hit := range m.hits[key] {
			if hit > at-m.per {
				inside++
			}
		}
		return inside < m.n
	}
	for wait := time.Duration(0); ; wait++ {
		if room(now + wait) {
			return wait > 0, wait
		}
	}
}

func TestAWindowAgreesWithANaiveModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var now fakeClock
		model := &naive{n: rapid.IntRange(1, 4).Draw(t, "n"), per: time.Duration(rapid.IntRange(1, 20).Draw(t, "per"))}
		model.hits = make(map[string][]time.Duration)
		w := limit.NewWindow(model.n, model.per, 3, now.clock())
		admitted := make(map[string][]time.Duration)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now.move(time.Duration(rapid.IntRange(0, 8).Draw(t, "pass")))
			at := now.clock()()
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			wantFull, wantAfter := model.full(key, at)
			full, after := w.Full(key)
			if full != wantFull || after != wantAfter {
				t.Fatalf("%s at %d: full is %v, retry after %d; want %v, %d", key, at, full, after, wantFull, wantAfter)
			}
			forced := rapid.IntRange(0, 3).Draw(t, "forced") == 0
			if full && !forced {
				continue
			}
			w.Add(key)
			model.hits[key] = append(model.hits[key], at)
			if !full {
				admitted[key] = append(admitted[key], at)
			}
		}
		for key, hits := range admitted {
			for i := model.n; i < len(hits); i++ {
				if hits[i]-hits[i-model.n] < model.per {
					t.Fatalf("%s: more than %d admitted within %d: %v", key, model.n, model.per, hits)
				}
			}
		}
	})
}
