package limit

import (
	"slices"
	"sync"
	"time"
)

// A Window counts the hits of each key in a sliding window of time, exactly: a hit at t
// counts before t+per. It is safe for concurrent use, and takes about 200 bytes a key
// and 8 to 16 bytes for each of the last n hits.
//
// A key is a text, or a client: Full and Add are for texts. FullFor and AddFor are for
// clients, and count for the networks around them, too, which have more hits (see Step).
//
// The key whose last hit is oldest is forgotten first. Its hits would also be the first
// that no longer count.
type Window struct {
	n     int
	per   time.Duration
	clock Clock
	mu    sync.Mutex
	hits  *table[[]time.Duration] // in order, the last n at most, or that multiple of n
}

// NewWindow returns a Window that is full for a key once it got n hits within
// per, or never if n is 0. It remembers at most maxKeys keys.
func NewWindow(n int, per time.Duration, maxKeys int, clock Clock) *Window {
	return &Window{n: n, per: per, clock: clock, hits: newTable[[]time.Duration](maxKeys, per)}
}

// SetHits changes how many hits make a key full from now on. Earlier hits still count,
// as far as they were kept.
func (w *Window) SetHits(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n = n
}

// Full reports whether the key has used up its n hits; retryAfter is then the
// time until it has not. It counts nothing.
//
// Full and Add are two steps: callers that run at the same time may all be told that
// one hit is left. Where that matters, they must take turns, or use TakeFor.
func (w *Window) Full(key string) (full bool, retryAfter time.Duration) {
	return w.hit([]Step{{key, 1}}, true, false)
}

// FullFor is Full for a client.
func (w *Window) FullFor(client string) (full bool, retryAfter time.Duration) {
	return w.hit(Steps(client), true, false)
}

// Add counts a hit of the key.
func (w *Window) Add(key string) { w.hit([]Step{{key, 1}}, false, true) }

// AddFor is Add for a client.
func (w *Window) AddFor(client string) { w.hit(Steps(client), false, true) }

// TakeFor is AddFor unless FullFor: it counts a hit, or reports that the client is full,
// in one step.
func (w *Window) TakeFor(client string) (full bool, retryAfter time.Duration) {
	return w.hit(Steps(client), true, true)
}

// hit looks whether one of the steps is full, if look is set, and counts a hit of each unless one is,
// if count is.
func (w *Window) hit(all []Step, look, count bool) (full bool, retryAfter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	for _, s := range all {
		if look {
			retryAfter = max(retryAfter, w.wait(s, now))
		}
	}
	for _, s := range all {
		if count && retryAfter == 0 {
			w.add(s, now)
		}
	}
	return retryAfter > 0, retryAfter
}

// wait returns the time until the key is not full; 0 if it is not.
func (w *Window) wait(s Step, now time.Duration) time.Duration {
	n := w.n * s.Times
	if n <= 0 {
		return 0
	}
	e := w.hits.get(s.Key, now)
	if e == nil || len(e.value) < n {
		return 0
	}
	return max(0, e.value[len(e.value)-n]+w.per-now)
}

func (w *Window) add(s Step, now time.Duration) {
	n := w.n * s.Times
	if n <= 0 {
		return
	}
	e := w.hits.use(s.Key, now)
	over := 0
	for over < len(e.value) && e.value[over]+w.per <= now {
		over++
	}
	over = max(over, len(e.value)-n+1)
	e.value = append(slices.Delete(e.value, 0, over), now)
}
