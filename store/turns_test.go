package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestOnlySoManyWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := newTurns(1, 1), make(chan struct{})
		done := make(chan error, 2)
		for range 2 { // one runs, one waits
			go func() {
				done <- q.do(t.Context(), func() error {
					<-held
					return nil
				})
			}()
		}
		synctest.Wait()
		if err := q.do(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
		close(held)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		ran := false
		if err := q.do(t.Context(), func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestWhoeverLeavesGetsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := newTurns(1, 1), make(chan struct{})
		first := make(chan error, 1)
		go func() { first <- q.do(t.Context(), func() error { <-held; return nil }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- q.do(ctx, nil) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("it got %v", err)
		}
		close(held)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestAQueueCanBeMadeShorterAndLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := newTurns(1, 2), make(chan struct{})
		done := make(chan error, 4)
		enter := func() { go func() { done <- q.do(t.Context(), func() error { <-held; return nil }) }() }
		for range 3 { // one runs, two wait
			enter()
		}
		synctest.Wait()
		q.setQueue(1)
		if err := q.do(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
		q.setQueue(3)
		enter()
		synctest.Wait()
		if err := q.do(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many for a longer queue: %v", err)
		}
		close(held)
		for range 4 { // nobody who waited was sent away
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
