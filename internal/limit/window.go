package limit

import (
	"math"
	"slices"
	"sync"
	"time"
)

// A Window counts the hits of each key in a sliding window of time, exactly: a hit at t
// counts before t+per. It is safe for concurrent use, and takes about 200 bytes a key
// and 8 to 16 bytes for each of the last n hits.
//
// The key whose last hit is oldest is forgotten first. Its hits would also be the first
// that no longer count.
type Window struct {
	n     int
	per   time.Duration
	clock Clock
	mu    sync.Mutex
	hits  *table[[]time.Duration] // in order, the last n at most
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
// one hit is left. Where that matters, they must take turns.
func (w *Window) Full(key string) (full bool, retryAfter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n <= 0 {
		return false, 0
	}
	now := w.clock()
	e := w.hits.get(key, now)
	if e == nil || len(e.value) < w.n {
		return false, 0
	}
	left := e.value[len(e.value)-w.n] + w.per - now
	return left > 0, max(0, left)
}

// Left returns how many hits the key can get before it is full: 0 while it is full, and
// math.MaxInt if it never is. It counts nothing.
func (w *Window) Left(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n <= 0 {
		return math.MaxInt
	}
	now := w.clock()
	left := w.n
	if e := w.hits.get(key, now); e != nil {
		for _, hit := range e.value {
			if hit+w.per > now {
				left--
			}
		}
	}
	return max(0, left)
}

// Add counts a hit of the key.
func (w *Window) Add(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n <= 0 {
		return
	}
	now := w.clock()
	e := w.hits.use(key, now)
	over := 0
	for over < len(e.value) && e.value[over]+w.per <= now {
		over++
	}
	over = max(over, len(e.value)-w.n+1)
	e.value = append(slices.Delete(e.value, 0, over), now)
}
