package limit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/limit"
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
	if allowed.Load() != 200 {
		t.Errorf("%d events of two keys are allowed", allowed.Load())
	}
}
