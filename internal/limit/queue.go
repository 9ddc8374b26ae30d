package limit

import (
	"context"
	"sync/atomic"
)

// A Queue is a semaphore with a bounded number of waiters. It is safe for
// concurrent use.
type Queue struct {
	maxWaiting atomic.Int64
	inside     atomic.Int64  // operations that wait or run
	running    chan struct{} // the semaphore
}

// NewQueue returns a Queue that runs at most running operations at a time,
// while at most waiting others wait.
func NewQueue(running, waiting int) *Queue {
	q := &Queue{running: make(chan struct{}, running)}
	q.SetWaiting(waiting)
	return q
}

// SetWaiting changes how many operations may wait. Those that wait already go
// on waiting.
func (q *Queue) SetWaiting(n int) { q.maxWaiting.Store(int64(n)) }

// enter counts one more operation inside, unless there are too many.
func (q *Queue) enter() bool {
	for {
		n := q.inside.Load()
		if n >= q.maxWaiting.Load()+int64(cap(q.running)) {
			return false
		}
		if q.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Do runs f as soon as the Queue lets it, and returns its error. It returns
// ErrBusy if too many others wait, and ctx.Err() if ctx ends during the
// wait; f does not run then.
func (q *Queue) Do(ctx context.Context, f func() error) error {
	if !q.enter() {
		return ErrBusy
	}
	defer q.inside.Add(-1)
	select {
	case q.running <- struct{}{}:
		defer func() { <-q.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return f()
}
