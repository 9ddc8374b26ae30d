package limit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestAQueueLimitsItsWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 1, 1), make(chan struct{})
		done := make(chan error, 2)
		for range 2 { // one runs, one waits
			go func() {
				done <- q.Do(t.Context(), "", func() error {
					<-held
					return nil
				})
			}()
		}
		synctest.Wait()
		if err := q.Do(t.Context(), "", nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
		close(held)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		ran := false
		if err := q.Do(t.Context(), "", func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestAWaiterWhoseContextEndsDoesNotRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 1, 1), make(chan struct{})
		first := make(chan error, 1)
		go func() { first <- q.Do(t.Context(), "", func() error { <-held; return nil }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- q.Do(ctx, "", nil) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		close(held)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestAQueueCanBeResized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 2, 1), make(chan struct{})
		done := make(chan error, 4)
		enter := func() { go func() { done <- q.Do(t.Context(), "", func() error { <-held; return nil }) }() }
		for range 3 { // one runs, two wait
			enter()
		}
		synctest.Wait()
		q.SetWaiting(1)
		if err := q.Do(t.Context(), "", nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
		q.SetWaiting(3)
		enter()
		synctest.Wait()
		if err := q.Do(t.Context(), "", nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many for a longer queue: %v", err)
		}
		close(held)
		for range 4 { // every waiter runs
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
