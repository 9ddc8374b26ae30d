package limit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/testkit/env"
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

const (
	unit       = 64 << 10
	memoryWait = 5 * time.Second
)

// mustReserve reserves n bytes that are free.
func (m *Memory) mustReserve(t *testing.T, n int64, by ...Holder) *Reservation {
	t.Helper()
	r := m.Reserve(append(by, Holder{})[0])
	if err := r.Resize(t.Context(), n); err != nil {
		t.Fatalf("a reservation of %d bytes: %v", n, err)
	}
	if want := min(n, m.shares.total); r.Held() != want || m.Held() < want || m.Held() > m.shares.total {
		t.Fatalf("of %d bytes %d are held here, and %d in all", n, r.Held(), m.Held())
	}
	return &r
}

// mustBeBusy fails the test unless resize returns ErrBusy when the wait is over.
func mustBeBusy(t *testing.T, resize func() error) {
	t.Helper()
	begin := time.Now()
	if err := resize(); !errors.Is(err, ErrBusy) || time.Since(begin) != memoryWait {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestReservationsShareAMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		first, second := m.mustReserve(t, 2*unit), m.mustReserve(t, 2*unit) // all there is
		m.mustReserve(t, 0).Release()
		third := m.Reserve(Holder{})
		mustBeBusy(t, func() error { return third.Resize(t.Context(), unit+1) })
		time.AfterFunc(memoryWait/2, first.Release)
		m.mustReserve(t, unit+1).Release()
		second.Release()
		m.mustReserve(t, 1<<40).Release() // no more than there is
		m.mustReserve(t, 2*unit).Release()
	})
}

func TestAReservationCanBeResized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		large := m.mustReserve(t, 4*unit)
		env.OK(t, large.Resize(t.Context(), unit))
		other := m.mustReserve(t, 3*unit)
		mustBeBusy(t, func() error { return large.Resize(t.Context(), unit+1) })
		time.AfterFunc(memoryWait/2, other.Release)
		if err := large.Resize(t.Context(), 4*unit); err != nil {
			t.Errorf("memory was free again: %v", err)
		}
		if err := large.Resize(t.Context(), 9*unit); err != nil {
			t.Errorf("a single reservation must get all there is: %v", err)
		}
		large.Release()
		m.mustReserve(t, 4*unit).Release()
	})
}

func TestReservationsThatWaitForEachOtherEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		one := m.mustReserve(t, 2*unit)
		two := m.mustReserve(t, 2*unit)
		begin := time.Now()
		ended := make(chan error)
		go func() { ended <- two.Resize(t.Context(), 3*unit) }()
		err := one.Resize(t.Context(), 3*unit)
		if other := <-ended; !errors.Is(err, ErrBusy) || !errors.Is(other, ErrBusy) || time.Since(begin) != memoryWait {
			t.Errorf("after %v: %v and %v", time.Since(begin), err, other)
		}
		one.Release()
		two.Release()
		m.mustReserve(t, 4*unit).Release()
	})
}

func TestAWaitForMemoryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := NewMemory(2*unit, memoryWait)
	defer m.mustReserve(t, 2*unit).Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := m.Reserve(Holder{})
	env.ErrorIs(t, "the error", r.Resize(ctx, 1), ErrBusy)
}

// fullFor fails the test unless a holder gets n bytes at once, and then waits for one more.
func (m *Memory) fullFor(t *testing.T, by Holder, n int64) {
	t.Helper()
	held := m.mustReserve(t, n, by)
	more := m.Reserve(by)
	mustBeBusy(t, func() error { return more.Resize(t.Context(), 1) })
	held.Release()
}

func TestAHolderHasAShareOfAMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(16*unit, memoryWait)
		first := m.mustReserve(t, 1, Holder{Client: "192.0.2.1", Account: 1, Link: "1"})
		for _, c := range []struct {
			name string
			by   Holder
			most int64
		}{
			{"the client", Holder{Client: "192.0.2.1"}, 2*unit - 1},
			{"its network", Holder{Client: "192.0.2.2"}, 8*unit - 1},
			{"the account", Holder{Account: 1}, 8*unit - 1},
			{"the link", Holder{Link: "1"}, 4*unit - 1},
			{"another client", Holder{Client: "198.51.100.1", Account: 2}, 16*unit - 1},
			{"another client that answers a request", Holder{Client: "198.51.100.1", Link: "2"}, 12*unit - 1},
			{"a holder without a name", Holder{}, 16*unit - 1},
		} {
			t.Log(c.name)
			m.fullFor(t, c.by, c.most)
		}
		first.Release()
		if m.Held() != 0 || len(m.shares.of) != 0 {
			t.Errorf("%d bytes stay held, by %v", m.Held(), m.shares.of)
		}
	})
}

// Else a small budget would refuse each large request.
func TestOneReservationMayBeLargerThanTheShareOfItsClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, ann := NewMemory(16*unit, memoryWait), Holder{Client: "192.0.2.1"}
		m.fullFor(t, ann, 9*unit)
		large := m.mustReserve(t, unit, ann)
		if err := large.Resize(t.Context(), 9*unit); err != nil {
			t.Errorf("it could not grow: %v", err)
		}
		large.Shrink(unit)
		small := m.mustReserve(t, unit, ann)
		mustBeBusy(t, func() error { return large.Resize(t.Context(), unit+1) })
		time.AfterFunc(memoryWait/2, small.Release)
		if err := large.Resize(t.Context(), 9*unit); err != nil {
			t.Errorf("it could not grow when the client held nothing else: %v", err)
		}
	})
}

// What does not fit, or is too much for its client, keeps none waiting.
func TestASmallReservationDoesNotWaitBehindALargeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(16*unit, memoryWait)
		greedy := Holder{Client: "192.0.2.1"}
		first, second := m.mustReserve(t, 2*unit, greedy), m.mustReserve(t, 10*unit)
		got := make(chan string, 3)
		wait := func(name string, by Holder, n int64) {
			r := m.Reserve(by)
			if err := r.Resize(t.Context(), n); err != nil {
				name += " is busy"
			}
			got <- name
		}
		go wait("large", Holder{Client: "198.51.100.1"}, 15*unit)
		synctest.Wait()
		go wait("greedy", greedy, unit)
		synctest.Wait()
		go wait("small", Holder{Client: "203.0.113.1"}, 5*unit)
		synctest.Wait()
		second.Shrink(9 * unit)
		env.Equal(t, "the first was", <-got, "small")
		first.Release()
		env.Equal(t, "the second was", <-got, "greedy")
		env.Equal(t, "the third was", <-got, "large is busy")
	})
}
