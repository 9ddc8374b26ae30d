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
// A key is a text, or a client: Full, Left and Add are for texts. FullFor, LeftFor and
// AddFor count what a client does to a subject, for its address and for the networks
// around it: a /24 of IPv4 has eight times n hits, an IPv6 /56 four times and a /48
// sixteen times.
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
	return w.FullWithin(key, w.per)
}

// FullWithin is Full for hits of a part of the window: those within span, which is at
// most the window.
func (w *Window) FullWithin(key string, span time.Duration) (full bool, retryAfter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.wait(step{key, 1}, span, w.clock())
	return left > 0, left
}

// FullFor is Full for a client and a subject.
func (w *Window) FullFor(subject, client string) (full bool, retryAfter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.waitFor(subject, steps(client), w.clock())
	return left > 0, left
}

// wait returns the time until the key is not full; 0 if it is not.
func (w *Window) wait(s step, span, now time.Duration) time.Duration {
	n := w.n * s.times
	if n <= 0 {
		return 0
	}
	e := w.hits.get(s.key, now)
	if e == nil || len(e.value) < n {
		return 0
	}
	return max(0, e.value[len(e.value)-n]+span-now)
}

func (w *Window) waitFor(subject string, client []step, now time.Duration) (longest time.Duration) {
	for _, s := range client {
		s.key = subject + s.key
		longest = max(longest, w.wait(s, w.per, now))
	}
	return longest
}

// LeftWithin returns how many hits the key can get before it is full within span: 0 while
// it is full, and math.MaxInt if it never is. It counts nothing.
func (w *Window) LeftWithin(key string, span time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left(step{key, 1}, span, w.clock())
}

// Left is LeftWithin for the whole window.
func (w *Window) Left(key string) int { return w.LeftWithin(key, w.per) }

// LeftFor is Left for a client and a subject.
func (w *Window) LeftFor(subject, client string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	least, now := math.MaxInt, w.clock()
	for _, s := range steps(client) {
		s.key = subject + s.key
		least = min(least, w.left(s, w.per, now))
	}
	return least
}

func (w *Window) left(s step, span, now time.Duration) int {
	if w.n <= 0 {
		return math.MaxInt
	}
	left := w.n * s.times
	if e := w.hits.get(s.key, now); e != nil {
		for _, hit := range e.value {
			if hit+span > now {
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
	w.add(step{key, 1}, w.clock())
}

// AddFor is Add for a client and a subject.
func (w *Window) AddFor(subject, client string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addFor(subject, steps(client), w.clock())
}

// TakeFor is AddFor unless FullFor: it counts a hit, or reports that the client is full,
// in one step.
func (w *Window) TakeFor(subject, client string) (full bool, retryAfter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, now := steps(client), w.clock()
	if left := w.waitFor(subject, all, now); left > 0 {
		return true, left
	}
	w.addFor(subject, all, now)
	return false, 0
}

func (w *Window) addFor(subject string, client []step, now time.Duration) {
	for _, s := range client {
		s.key = subject + s.key
		w.add(s, now)
	}
}

func (w *Window) add(s step, now time.Duration) {
	n := w.n * s.times
	if n <= 0 {
		return
	}
	e := w.hits.use(s.key, now)
	over := 0
	for over < len(e.value) && e.value[over]+w.per <= now {
		over++
	}
	over = max(over, len(e.value)-n+1)
	e.value = append(slices.Delete(e.value, 0, over), now)
}
