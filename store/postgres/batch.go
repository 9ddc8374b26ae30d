package postgres

import (
	"context"
	"slices"
	"sync"
)

// batches gather items that wait at the same time, so that one statement serves all of them: a
// statement costs the database several times as much as a row in it. An item never waits just to
// make a batch larger. The zero value is ready.
type batches[T any] struct {
	mu      sync.Mutex
	running bool         // one statement at a time: two statements of half the size take longer
	waiting []*member[T] // empty unless one runs
}

// batchSize bounds the items of a statement.
const batchSize = 64

// A member is an item that waits. Its channel receives the members that it must serve, itself
// first, or nil once its wait is over.
type member[T any] struct {
	item  T
	leads chan []*member[T]
}

// do lets run serve the item together with others that wait; one of their callers calls run. run
// must write the result of each item into the item. If it fails, waiting items return without being
// served, so that none waits for more than one failure. So does an item whose ctx ends while it
// waits.
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

// withdraw removes a waiting member, and reports whether it was still waiting.
func (b *batches[T]) withdraw(m *member[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, m)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	return i >= 0
}

// next starts the next waiting member after a run has ended.
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

// release ends the wait of members that were served, or will not be.
func release[T any](all []*member[T]) {
	for _, m := range all {
		m.leads <- nil
	}
}
