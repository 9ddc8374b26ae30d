package postgres

import (
	"context"
	"slices"
	"sync"
)

// batches gather what waits at the same time, so that one statement serves all of it: a
// statement costs the database several times what a row of it does. Nothing waits for the
// sake of a larger batch. The zero value is ready.
type batches[T any] struct {
	mu      sync.Mutex
	running bool         // one statement at a time: two of half the size take longer
	waiting []*member[T] // empty unless one runs
}

// batchSize bounds the items of a statement.
const batchSize = 64

// A member is an item that waits. It is told whom it is to serve, itself first; or nothing,
// once another has served it.
type member[T any] struct {
	item  T
	leads chan []*member[T]
}

// do has run serve the item, together with others that wait: one of their callers runs it.
// run must write what comes of each item into the item. If it fails, those that wait
// return without being served, so that none waits for more than one failure. So does one
// that waits when ctx ends, unless it is being served.
func (b *batches[T]) do(ctx context.Context, item T, run func(items []T) error) {
	m := &member[T]{item, make(chan []*member[T], 1)}
	b.mu.Lock()
	if !b.running {
		b.running = true
		m.leads <- []*member[T]{m}
	} else {
		b.waiting = append(b.waiting, m)
	}
	b.mu.Unlock()
	var served []*member[T]
	select {
	case served = <-m.leads:
	case <-ctx.Done():
		if b.withdraw(m) {
			return
		}
		served = <-m.leads
	}
	if served == nil {
		return
	}
	items := make([]T, len(served))
	for i, other := range served {
		items[i] = other.item
	}
	failed := true // unless run returns
	defer func() {
		release(served[1:])
		b.next(failed)
	}()
	failed = run(items) != nil
}

// withdraw removes a member that waits, and reports whether it waited still.
func (b *batches[T]) withdraw(m *member[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, m)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	return i >= 0
}

// next has the next that waits run, after a run has ended.
func (b *batches[T]) next(failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed {
		release(b.waiting)
		b.waiting = nil
	}
	n := min(len(b.waiting), batchSize)
	if n == 0 {
		b.running = false
		return
	}
	next := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	next[0].leads <- next
}

// release lets members go that were served, or will not be.
func release[T any](all []*member[T]) {
	for _, m := range all {
		m.leads <- nil
	}
}
