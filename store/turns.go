package store

import (
	"context"
	"sync/atomic"
)

// turns bound how much of something runs at a time, and how much waits for that.
type turns struct {
	queue   atomic.Int64 // how much may wait
	inside  atomic.Int64 // how much waits or runs
	running chan struct{}
}

func newTurns(running, waiting int) *turns {
	t := &turns{running: make(chan struct{}, running)}
	t.queue.Store(int64(waiting))
	return t
}

// setQueue changes how much may wait. What waits already goes on waiting.
func (t *turns) setQueue(waiting int) { t.queue.Store(int64(waiting)) }

// enter joins those that wait or run, unless there are too many.
func (t *turns) enter() bool {
	for {
		n := t.inside.Load()
		if n >= t.queue.Load()+int64(cap(t.running)) {
			return false
		}
		if t.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// do runs f in its turn. ErrBusy if too many wait for theirs, ctx.Err() if ctx
// ends before.
func (t *turns) do(ctx context.Context, f func() error) error {
	if !t.enter() {
		return ErrBusy
	}
	defer t.inside.Add(-1)
	select {
	case t.running <- struct{}{}:
		defer func() { <-t.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return f()
}
