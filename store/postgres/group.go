package postgres

import (
	"context"
	"slices"
	"sync"
)

// A group gathers what waits at the same time, so that one statement serves all of it: a
// statement costs the database several times what a row of it does. Nothing waits for the
// sake of a larger group. The zero value is ready.
type group[T any] struct {
	mu      sync.Mutex
	running bool         // one statement at a time: two of half the size take longer
	waiting []*member[T] // empty unless one runs
}

// groupSize bounds the items of a statement.
const groupSize = 64

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
func (g *group[T]) do(ctx context.Context, item T, run func(items []T) error) {
	m := &member[T]{item, make(chan []*member[T], 1)}
	g.mu.Lock()
	if !g.running {
		g.running = true
		m.leads <- []*member[T]{m}
	} else {
		g.waiting = append(g.waiting, m)
	}
	g.mu.Unlock()
	var served []*member[T]
	select {
	case served = <-m.leads:
	case <-ctx.Done():
		if g.withdraw(m) {
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
		g.next(failed)
	}()
	failed = run(items) != nil
}

// withdraw removes a member that waits, and reports whether it waited still.
func (g *group[T]) withdraw(m *member[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, m)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// next has the next that waits run, after a run has ended.
func (g *group[T]) next(failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if failed {
		release(g.waiting)
		g.waiting = nil
	}
	n := min(len(g.waiting), groupSize)
	if n == 0 {
		g.running = false
		return
	}
	next := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	next[0].leads <- next
}

// release lets members go that were served, or will not be.
func release[T any](all []*member[T]) {
	for _, m := range all {
		m.leads <- nil
	}
}
