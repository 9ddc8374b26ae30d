package postgres

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Each item is served once, by one run at a time and none that is too large.
func TestABatchServesEachItemOnce(t *testing.T) {
	t.Parallel()
	var b batches[*atomic.Int32]
	var running, runs, together atomic.Int32
	run := func(items []*atomic.Int32) error {
		if n := running.Add(1); n > 1 {
			t.Errorf("%d run at a time", n)
		}
		if len(items) > batchSize {
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
		b.do(t.Context(), new(atomic.Int32), func([]*atomic.Int32) error { close(began); <-hold; return nil })
	})
	<-began
	const n = 10 * batchSize
	items := make([]atomic.Int32, n)
	for i := range items {
		rest.Go(func() { b.do(t.Context(), &items[i], run) })
	}
	for waiting := 0; waiting < n; {
		b.mu.Lock()
		waiting = len(b.waiting)
		b.mu.Unlock()
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
	if runs.Load() != n/batchSize || together.Load() != runs.Load() {
		t.Errorf("%d runs, of which %d served several", runs.Load(), together.Load())
	}
	if b.running || len(b.waiting) != 0 {
		t.Errorf("afterwards one runs: %v, and %d wait", b.running, len(b.waiting))
	}
}

// None waits for more than one failure: those behind it return, and are not served.
func TestABatchThatFailsLetsOthersGo(t *testing.T) {
	t.Parallel()
	var b batches[*atomic.Int32]
	var all sync.WaitGroup
	began, hold := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		b.do(t.Context(), new(atomic.Int32), func([]*atomic.Int32) error { close(began); <-hold; return errors.New("away") })
	})
	<-began
	var served atomic.Int32
	for range 3 * batchSize {
		all.Go(func() {
			b.do(t.Context(), &served, func(items []*atomic.Int32) error { served.Add(int32(len(items))); return nil })
		})
	}
	for waiting := 0; waiting < 3*batchSize; {
		b.mu.Lock()
		waiting = len(b.waiting)
		b.mu.Unlock()
		runtime.Gosched()
	}
	close(hold)
	all.Wait()
	if served.Load() != 0 {
		t.Errorf("%d items were served after the failure", served.Load())
	}
	b.do(t.Context(), &served, func([]*atomic.Int32) error { served.Add(1); return nil })
	if served.Load() != 1 || b.running {
		t.Errorf("afterwards %d were served, and one runs: %v", served.Load(), b.running)
	}
}
