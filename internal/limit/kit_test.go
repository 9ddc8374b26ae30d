package limit_test

import (
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
)

// manyKeys is a bound that only the tests of the bound reach.
const manyKeys = 1000

// fakeClock is a clock that tests move.
type fakeClock struct{ t atomic.Int64 }

func (h *fakeClock) clock() limit.Clock {
	return func() time.Duration { return time.Duration(h.t.Load()) }
}

func (h *fakeClock) move(d time.Duration) { h.t.Add(int64(d)) }
