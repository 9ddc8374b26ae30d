package limit_test

import (
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
)

// manyKeys is more keys than a test uses unless it is about their number.
const manyKeys = 1000

// hands is a clock that tests set.
type hands struct{ t atomic.Int64 }

func (h *hands) clock() limit.Clock {
	return func() time.Duration { return time.Duration(h.t.Load()) }
}

func (h *hands) move(d time.Duration) { h.t.Add(int64(d)) }
