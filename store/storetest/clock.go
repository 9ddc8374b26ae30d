package storetest

import (
	"sync"
	"time"
)

// A Clock is a clock.Clock that moves only when a test moves it. It is safe for
// concurrent use.
type Clock struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
}

// NewClock returns a clock that shows 2026-01-01T00:00:00Z.
func NewClock() *Clock {
	return &Clock{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// Now is what the wall clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Elapsed is the monotonic time that has passed.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// Advance lets the time d pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d
}

// Jump moves the wall clock by d, ahead or back, while no time passes.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}
