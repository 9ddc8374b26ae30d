package limit_test

import (
	"testing"
	"time"

	"pushbox/internal/limit"
)

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
