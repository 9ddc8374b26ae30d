package limit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// keysOf lists the keys of a table, the one used last first, and checks that
// the map and the ring hold the same.
func keysOf[V any](t *testing.T, tab *table[V]) (keys []string) {
	t.Helper()
	for e := tab.root.next; e != &tab.root; e = e.next {
		if tab.entries[e.key] != e || e.next.prev != e {
			t.Fatalf("%q is not linked as it should be", e.key)
		}
		keys = append(keys, e.key)
	}
	if len(keys) != len(tab.entries) {
		t.Fatalf("%d entries in the ring, %d in the map", len(keys), len(tab.entries))
	}
	return keys
}

func TestATableNeverHoldsMoreThanItsBound(t *testing.T) {
	t.Parallel()
	tab := newTable[int](3, time.Hour)
	for i, step := range []struct{ key, want string }{
		{"a", "[a]"},
		{"b", "[b a]"},
		{"c", "[c b a]"},
		{"a", "[a c b]"},
		{"a", "[a c b]"},
		{"d", "[d a c]"},
		{"b", "[b d a]"},
	} {
		tab.use(step.key, time.Duration(i))
		if got := fmt.Sprint(keysOf(t, tab)); got != step.want {
			t.Fatalf("after %s: %s, want %s", step.key, got, step.want)
		}
	}
}

func TestATableDropsWhatIsIdle(t *testing.T) {
	t.Parallel()
	tab := newTable[int](100, 10)
	tab.use("old", 0).value = 1
	tab.use("young", 5).value = 2
	if e := tab.get("old", 9); e == nil || e.value != 1 {
		t.Error("an entry is gone before it is idle")
	}
	if tab.get("old", 10) != nil || fmt.Sprint(keysOf(t, tab)) != "[young]" {
		t.Error("an idle entry is still there when it is seen")
	}
	if tab.use("new", 15); fmt.Sprint(keysOf(t, tab)) != "[new]" {
		t.Error("an idle entry is still there after another key was used")
	}
	if e := tab.use("new", 25); e.value != 0 || len(tab.entries) != 1 {
		t.Error("an idle entry was used again")
	}
}

func TestIdleEntriesGoAFewAtATime(t *testing.T) {
	t.Parallel()
	tab := newTable[int](100, 10)
	for i := range 10 {
		tab.use(fmt.Sprint(i), 0)
	}
	for i, want := range []int{7, 4, 3, 4} { // four go and one comes
		if tab.use(fmt.Sprint("new", i), 10); len(tab.entries) != want {
			t.Errorf("%d entries after step %d, want %d", len(tab.entries), i, want)
		}
	}
}

func TestATableKeepsNoPartOfALongKey(t *testing.T) {
	t.Parallel()
	tab := newTable[int](100, time.Hour)
	for _, length := range []int{maxKey, maxKey + 1, 1 << 20} {
		tab.use(strings.Repeat("k", length), 0)
		if got := len(tab.root.next.key); got != min(length, maxKey) && got != 32 {
			t.Errorf("a key of %d bytes is kept in %d", length, got)
		}
	}
}

func TestTheBytesAKeyTakesAreAsDocumented(t *testing.T) { // not parallel: it counts memory
	const keys, n = 20_000, 5
	clock := func() time.Duration { return 0 }
	measure := func(fill func() any) int {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept := fill()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		return int(after.HeapAlloc-before.HeapAlloc) / keys
	}
	key := func(i int) string { return fmt.Sprintf("2001:db8:%x:%x::/64", i>>8, i&255) }
	perRate := measure(func() any {
		r := NewRate(120, keys, clock)
		for i := range keys {
			r.Allow(key(i))
		}
		return r
	})
	perWindow := measure(func() any {
		w := NewWindow(n, time.Minute, keys, clock)
		for i := range keys * n {
			w.Add(key(i % keys))
		}
		return w
	})
	t.Logf("%d bytes a key of a Rate, %d of a Window of %d hits", perRate, perWindow, n)
	if perRate > 250 || perWindow > 200+16*n {
		t.Errorf("%d bytes a key of a Rate, %d of a Window of %d hits", perRate, perWindow, n)
	}
}
