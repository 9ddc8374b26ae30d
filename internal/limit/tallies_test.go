package limit_test

import (
	"testing"
	"time"

	"pushbox/internal/limit"
)

// What tallies count is tested with the engines. This is about their memory.
func TestTalliesForgetTheOldestOfTheirSort(t *testing.T) {
	t.Parallel()
	c, now := limit.NewTallies(3), time.Unix(1, 0)
	one := func(of uint8, key byte) []limit.Tally {
		return []limit.Tally{{Of: of, Key: [16]byte{key}, Most: 1, Span: time.Hour}}
	}
	c.Count(now, one(1, 'x'))
	for key := range byte(4) {
		c.Count(now, one(2, key))
	}
	for key := range byte(4) {
		if forgotten := limit.AllLeft(c.Look(now, one(2, key))); forgotten != (key == 0) {
			t.Errorf("key %d is forgotten: %v", key, forgotten)
		}
	}
	if limit.AllLeft(c.Look(now, one(1, 'x'))) {
		t.Error("a key is forgotten for those of another sort")
	}
	if !limit.AllLeft(c.Look(now.Add(time.Hour), one(2, 3))) {
		t.Error("a try counts after its span")
	}
	if !limit.AllLeft(c.Look(now, one(2, 3))) {
		t.Error("the time runs back")
	}
}
