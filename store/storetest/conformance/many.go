package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Together runs f at the same time in n goroutines and waits for all.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func countsConcurrently(t *testing.T, e record.Engine) {
	const racers, each = 64, 2
	for n, limit := range []int{1, 2, 3, 5, 100} {
		p := livePush(1+n, 0)
		p.ViewLimit = limit
		Must(t, e.CreatePush(t.Context(), p, payloadOf(1+n), creation(p)))
		var delivered atomic.Int32
		Together(racers, func(int) {
			for range each {
				c, err := e.Change(t.Context(), p.ID, view)
				switch {
				case err == nil:
					delivered.Add(1)
					Same(t, "payload", c.Payload, payloadOf(1+n))
				case !errors.Is(err, errLimit):
					t.Error(err)
				}
			}
		})
		Same(t, "views delivered", int(delivered.Load()), limit)
		got, err := e.Push(t.Context(), p.ID)
		Must(t, err)
		Same(t, "views counted", got.Views, limit)
		Same(t, "state", got.State, record.Expired)
	}
}

func isolatesFailures(t *testing.T, e record.Engine) {
	create(t, e, 1000, 0)
	Together(64, func(i int) {
		switch i % 4 {
		case 0: // fails while it writes, where an engine cannot keep an empty address
			if id, err := cold.CreateAccount(t.Context(), e, record.Account{}, Told); err == nil && id == 0 {
				t.Error("an account got no ID")
			}
		case 1:
			_, err := e.Change(t.Context(), pushID(1000), func(record.Push) (record.Push, record.Entry, error) {
				panic("no")
			})
			if err == nil {
				t.Error("a rule that panicked returned no error")
			}
		case 2:
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			p := livePush(i, 0)
			err := e.CreatePush(ctx, p, payloadOf(i), creation(p))
			_, found := e.Push(t.Context(), p.ID)
			if (err == nil) != (found == nil) {
				t.Errorf("create returned %v, look-up %v", err, found)
			}
		default:
			p := livePush(i, 0)
			if err := e.CreatePush(t.Context(), p, payloadOf(i), creation(p)); err != nil {
				t.Errorf("create beside failures: %v", err)
			}
			if got, err := e.Push(t.Context(), p.ID); err != nil || got.ID != p.ID {
				t.Errorf("a created push is not found: %v", err)
			}
		}
	})
}

func ordersOwnership(t *testing.T, e record.Engine) {
	for round := range 8 {
		owner := account(t, e, fmt.Sprint(round))
		var created, removed atomic.Bool
		Together(2, func(i int) {
			if i == 0 {
				p := livePush(round, owner)
				created.Store(e.CreatePush(t.Context(), p, payloadOf(round), creation(p)) == nil)
			} else {
				removed.Store(cold.RemoveAccount(t.Context(), e, owner, Told) == nil)
			}
		})
		if created.Load() == removed.Load() {
			t.Errorf("push created: %t, owner removed: %t", created.Load(), removed.Load())
		}
	}
}

func isLinear(t *testing.T, e record.Engine) {
	create(t, e, 1, 0)
	var seen atomic.Int64
	Together(16, func(int) {
		for range 8 {
			before := seen.Load()
			p, err := e.Push(t.Context(), pushID(1))
			if err != nil || int64(p.Seq) < before {
				t.Errorf("entry %d was acknowledged, and the push read after has %d: %v", before, p.Seq, err)
			}
			c, err := e.Change(t.Context(), pushID(1), fail)
			if err != nil {
				t.Error(err)
			}
			for now := int64(c.Push.Seq); ; {
				old := seen.Load()
				if old >= now || seen.CompareAndSwap(old, now) {
					break
				}
			}
		}
	})
	entries, err := e.Entries(t.Context(), pushID(1), 0, 1000)
	Must(t, err)
	Same(t, "number of entries", len(entries), 1+16*8)
}
