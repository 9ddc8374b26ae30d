package postgres

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Each item is served once, by one run at a time and none that is too large.
func TestAGroupServesEachItemOnce(t *testing.T) {
	t.Parallel()
	var g group[*atomic.Int32]
	var running, runs, together atomic.Int32
	run := func(items []*atomic.Int32) error {
		if n := running.Add(1); n > 1 {
			t.Errorf("%d run at a time", n)
		}
		if len(items) > groupSize {
			t.Errorf("%d items in one run", len(items))
		}
		if len(items) > 1 {
			together.Add(1)
		}
		for _, i := range items {
			i.Add(1)
		}
		runs.Add(1)
		running.Add(-1)
		return nil
	}
	// All wait for the first run, so that the others come together.
	var first, rest sync.WaitGroup
	hold := make(chan struct{})
	began := make(chan struct{})
	first.Go(func() {
		g.do(t.Context(), new(atomic.Int32), func([]*atomic.Int32) error { close(began); <-hold; return nil })
	})
	<-began
	const n = 10 * groupSize
	items := make([]atomic.Int32, n)
	for i := range items {
		rest.Go(func() { g.do(t.Context(), &items[i], run) })
	}
	for waiting := 0; waiting < n; {
		g.mu.Lock()
		waiting = len(g.waiting)
		g.mu.Unlock()
		runtime.Gosched()
	}
	close(hold)
	first.Wait()
	rest.Wait()
	for i := range items {
		if got := items[i].Load(); got != 1 {
			t.Errorf("item %d was served %d times", i, got)
		}
	}
	if runs.Load() != n/groupSize || together.Load() != runs.Load() {
		t.Errorf("%d runs, of which %d served several", runs.Load(), together.Load())
	}
	if g.running || len(g.waiting) != 0 {
		t.Errorf("afterwards one runs: %v, and %d wait", g.running, len(g.waiting))
	}
}

// None waits for more than one failure: those behind it return, and are not served.
func TestAGroupThatFailsLetsOthersGo(t *testing.T) {
	t.Parallel()
	var g group[*atomic.Int32]
	var all sync.WaitGroup
	began, hold := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		g.do(t.Context(), new(atomic.Int32), func([]*atomic.Int32) error { close(began); <-hold; return errors.New("away") })
	})
	<-began
	var served atomic.Int32
	for range 3 * groupSize {
		all.Go(func() {
			g.do(t.Context(), &served, func(items []*atomic.Int32) error { served.Add(int32(len(items))); return nil })
		})
	}
	for waiting := 0; waiting < 3*groupSize; {
		g.mu.Lock()
		waiting = len(g.waiting)
		g.mu.Unlock()
		runtime.Gosched()
	}
	close(hold)
	all.Wait()
	if served.Load() != 0 {
		t.Errorf("%d items were served after the failure", served.Load())
	}
	g.do(t.Context(), &served, func([]*atomic.Int32) error { served.Add(1); return nil })
	if served.Load() != 1 || g.running {
		t.Errorf("afterwards %d were served, and one runs: %v", served.Load(), g.running)
	}
}
