package manage

import (
	"context"
	"errors"
	"testing"
	"time"

	"pushbox/store/storetest"
)

// What is found is kept for a while; an error is not, nor what a client did not wait for.
func TestWhatWasFoundIsRemembered(t *testing.T) {
	t.Parallel()
	clock := storetest.New(t).Clock
	n, fault := 0, errors.New("down")
	kept := remembered(clock, time.Minute, func(context.Context) (int, error) {
		n++
		return n, fault
	})
	wants := func(ctx context.Context, want int, fails bool) {
		t.Helper()
		if got, err := kept(ctx); got != want || (err != nil) != fails {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
	}
	wants(t.Context(), 1, true)
	fault = nil
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	wants(gone, 2, true)
	wants(t.Context(), 3, false)
	wants(t.Context(), 3, false)
	clock.Advance(time.Minute)
	wants(t.Context(), 4, false)
}
