package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestAProbeIsValidOnceAndForAMinute(t *testing.T) {
	t.Parallel()
	var now time.Duration
	p := newProbes(func() time.Duration { return now })
	add := func() string {
		t.Helper()
		code, err := p.add()
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	first, second, third := add(), add(), add()
	if !p.take(first) || p.take(first) || p.take("") {
		t.Error("it is good more than once, or never was")
	}
	now = probeTime - 1
	if !p.take(second) {
		t.Error("it ended too soon")
	}
	now = probeTime
	if p.take(third) {
		t.Error("it did not end")
	}
	for range mostProbes {
		add()
	}
	if _, err := p.add(); !errors.Is(err, record.ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	now += probeTime
	add()
	if len(p.ends) != 1 {
		t.Errorf("%d are kept", len(p.ends))
	}
}

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
