package limit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
)

func TestARateAllowsItsMinuteAtOnceAndNoMore(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 7, 120, 1200} {
		var now fakeClock
		r := limit.NewRate(perMinute, manyKeys, now.clock())
		for i := range perMinute {
			if ok, after := r.Allow("a"); !ok || after != 0 {
				t.Fatalf("event %d of %d is refused", i+1, perMinute)
			}
		}
		ok, after := r.Allow("a")
		if want := time.Minute / time.Duration(perMinute); ok || after < want || after > want+time.Microsecond {
			t.Errorf("event %d: %v, retry after %v; want %v", perMinute+1, ok, after, want)
		}
		if ok, _ := r.Allow("b"); !ok {
			t.Error("another key is refused")
		}
	}
}

func TestARefusedEventIsAllowedAfterItsRetryAfter(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 7, 120, 997, 1200} {
		var now fakeClock
		r := limit.NewRate(perMinute, manyKeys, now.clock())
		for range perMinute {
			r.Allow("a")
		}
		for i := range 50 {
			ok, after := r.Allow("a")
			if ok {
				t.Fatalf("%d a minute, round %d: allowed too soon", perMinute, i)
			}
			now.move(after - time.Microsecond) // the bucket counts in fractions of an event
			if ok, _ := r.Allow("a"); ok {
				t.Fatalf("%d a minute, round %d: allowed before its retry-after", perMinute, i)
			}
			now.move(time.Microsecond)
			if ok, again := r.Allow("a"); !ok {
				t.Fatalf("%d a minute, round %d: refused after its retry-after, for %v more", perMinute, i, again)
			}
		}
	}
}

func TestRefusedEventsAreNotCounted(t *testing.T) {
	t.Parallel()
	var now fakeClock
	r := limit.NewRate(2, manyKeys, now.clock())
	for range 100 {
		r.Allow("a")
	}
	now.move(30 * time.Second)
	if ok, _ := r.Allow("a"); !ok {
		t.Error("refused events made the wait longer")
	}
	if ok, _ := r.Allow("a"); ok {
		t.Error("a second event is allowed after half a minute")
	}
}

func TestABucketIsFullAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{time.Minute: 5, time.Hour: 5, time.Minute - time.Millisecond: 4, 24 * time.Second: 2} {
		var now fakeClock
		r := limit.NewRate(5, manyKeys, now.clock())
		allowed := func() (n int) {
			for ok, _ := r.Allow("a"); ok; ok, _ = r.Allow("a") {
				n++
			}
			return n
		}
		if n := allowed(); n != 5 {
			t.Fatalf("%d at first", n)
		}
		now.move(wait)
		if n := allowed(); n != want {
			t.Errorf("%d after %v, want %d", n, wait, want)
		}
	}
}

func TestARateOfZeroAllowsAll(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{0, -1} {
		var now fakeClock
		r := limit.NewRate(perMinute, 1, now.clock())
		for range 10_000 {
			if ok, after := r.Allow("a"); !ok || after != 0 {
				t.Fatalf("%d a minute refuses", perMinute)
			}
		}
	}
}

func TestARateForgetsTheKeyThatWasUsedLeastRecently(t *testing.T) {
	t.Parallel()
	var now fakeClock
	r := limit.NewRate(1, 2, now.clock())
	for _, step := range []struct {
		key string
		ok  bool
	}{{"a", true}, {"b", true}, {"a", false}, {"c", true}, {"a", false}, {"b", true}, {"a", false}, {"c", true}} {
		if ok, _ := r.Allow(step.key); ok != step.ok {
			t.Fatalf("%+v: %v", step, ok)
		}
	}
}

func TestARateIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	var now fakeClock
	r := limit.NewRate(100, manyKeys, now.clock())
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 400 {
				if ok, _ := r.Allow(fmt.Sprint(i % 2)); ok {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	env.Equal(t, "events of two keys are allowed", allowed.Load(), 200)
}

func TestAWindowThatIsMadeSmallerOrLargerForgetsNoHit(t *testing.T) {
	t.Parallel()
	var now fakeClock
	w := limit.NewWindow(4, time.Minute, manyKeys, now.clock())
	for range 4 { // at 0, 10, 20 and 30 s
		w.Add("a")
		now.move(10 * time.Second)
	}
	for _, step := range []struct {
		hits  int
		full  bool
		retry time.Duration
	}{
		{4, true, 20 * time.Second},
		{2, true, 40 * time.Second}, // until the second last is past
		{5, false, 0},
		{0, false, 0},
		{4, true, 20 * time.Second},
	} {
		w.SetHits(step.hits)
		if full, retry := w.Full("a"); full != step.full || retry != step.retry {
			t.Errorf("of %d: full is %v, retry after %v", step.hits, full, retry)
		}
	}
	w.SetHits(2)
	w.Add("a") // two of its hits are kept now
	w.SetHits(4)
	w.Add("a")
	if full, _ := w.Full("a"); full {
		t.Error("after a hit at two and one at four, it is full: all were kept")
	}
}

func TestARateThatIsChangedGivesNothingBack(t *testing.T) {
	t.Parallel()
	var now fakeClock
	r := limit.NewRate(2, manyKeys, now.clock())
	allow := func(what string, want bool, retry time.Duration) {
		t.Helper()
		if ok, after := r.Allow("a"); ok != want || after.Round(time.Millisecond) != retry {
			t.Errorf("%s: allowed is %v, retry after %v; want %v, %v", what, ok, after, want, retry)
		}
	}
	allow("one", true, 0)
	allow("two", true, 0)
	allow("three of two", false, 30*time.Second)
	r.SetPerMinute(60)
	allow("used up, of sixty", false, time.Second)
	now.move(time.Second)
	allow("a second later", true, 0)
	r.SetPerMinute(0)
	allow("of any number", true, 0)
	r.SetPerMinute(1)
	allow("used up, of one", false, time.Minute)
	now.move(time.Minute)
	allow("a minute later", true, 0)
	allow("and another", false, time.Minute)
}

// What tallies count is tested with the engines. This is about their memory.
func TestTalliesForgetTheOldestOfTheirSort(t *testing.T) {
	t.Parallel()
	c, now := limit.NewTallies(3), time.Unix(1, 0)
	one := func(of uint8, key byte) []limit.Tally {
		return []limit.Tally{{Of: of, Key: [16]byte{key}, Most: 1, Span: time.Hour}}
	}
	c.Do(limit.Count, now, one(1, 'x'))
	for key := range byte(4) {
		c.Do(limit.Count, now, one(2, key))
	}
	for key := range byte(4) {
		if forgotten := limit.AllLeft(c.Do(limit.Look, now, one(2, key))); forgotten != (key == 0) {
			t.Errorf("key %d is forgotten: %v", key, forgotten)
		}
	}
	if limit.AllLeft(c.Do(limit.Look, now, one(1, 'x'))) {
		t.Error("a key is forgotten for those of another sort")
	}
	if !limit.AllLeft(c.Do(limit.Look, now.Add(time.Hour), one(2, 3))) {
		t.Error("a try counts after its span")
	}
	if !limit.AllLeft(c.Do(limit.Look, now, one(2, 3))) {
		t.Error("the time runs back")
	}
}

// manyKeys is a bound that only the tests of the bound reach.
const manyKeys = 1000

// fakeClock is a clock that tests move.
type fakeClock struct{ t atomic.Int64 }

func (h *fakeClock) clock() limit.Clock {
	return func() time.Duration { return time.Duration(h.t.Load()) }
}

func (h *fakeClock) move(d time.Duration) { h.t.Add(int64(d)) }
