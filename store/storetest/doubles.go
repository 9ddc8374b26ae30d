package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store/record"
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

// A Forgery damages chunks of files that the store reads.
type Forgery struct {
	Take  func(file, n int) (int, int)     // returns the chunk to read instead; nil: no change
	Spoil func(file, n int, sealed []byte) // changes the chunk that was read; may be nil
}

// Forge damages chunks that are read from now on; nil ends that.
func (f *Fixture) Forge(x *Forgery) { f.forgery.Store(x) }

// A forger is an engine whose files may be damaged.
type forger struct {
	record.Engine
	forgery *atomic.Pointer[Forgery]
}

func (e forger) Chunk(ctx context.Context, d record.GrantDigest, file, n int, dst []byte) (record.Grant, []byte, error) {
	x := e.forgery.Load()
	if x == nil {
		return e.Engine.Chunk(ctx, d, file, n, dst)
	}
	if x.Take != nil {
		file, n = x.Take(file, n)
	}
	g, sealed, err := e.Engine.Chunk(ctx, d, file, n, dst)
	if err == nil && x.Spoil != nil {
		x.Spoil(file, n, sealed[len(dst):])
	}
	return g, sealed, err
}

// A Watched is an engine that calls Look before each list of a table.
type Watched struct {
	record.Engine
	Look func(of *record.Table)
}

// View reads through a view that calls Look.
func (e Watched) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(watchedView{v, e.Look}) })
}

type watchedView struct {
	record.View
	look func(of *record.Table)
}

func (v watchedView) List(of *record.Table, r record.Range) ([]record.Record, error) {
	v.look(of)
	return v.View.List(of, r)
}

// CountLists makes the store of a fixture count in n how often it lists a table.
func CountLists(of *record.Table, n *atomic.Int64) func(record.Engine) record.Engine {
	return func(e record.Engine) record.Engine {
		return Watched{e, func(listed *record.Table) {
			if listed == of {
				n.Add(1)
			}
		}}
	}
}
