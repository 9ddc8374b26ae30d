package postgres

import (
	"context"
	"sync"
)

// turns let one step at a time work on a key, within this process: rivals that wait here
// cost nothing, and those that meet in the database cost round trips. What the last one
// knows of the key is there for the next. The zero value is ready.
type turns[K comparable] struct {
	mu  sync.Mutex
	all map[K]*turn
}

// A turn is the queue of one key. It exists while a step uses it.
type turn struct {
	busy   chan struct{} // holds a value while a step has its turn
	users  int           // with those that wait
	known  *row          // of a push: what the last step left; nil: nothing
	chains group[*pushChange]
}

// leave ends a turn.
func (q *turns[K]) leave(key K, t *turn) {
	t.end()
	q.drop(key, t)
}

// enter returns the queue of a key. The caller ends its use with drop.
func (q *turns[K]) enter(key K) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.all[key]
	if t == nil {
		if q.all == nil {
			q.all = make(map[K]*turn)
		}
		t = &turn{busy: make(chan struct{}, 1)}
		q.all[key] = t
	}
	t.users++
	return t
}

// begin waits for the turn. The caller ends it with end.
func (t *turn) begin(ctx context.Context) error {
	select {
	case t.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *turn) end() { <-t.busy }

func (q *turns[K]) drop(key K, t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(q.all, key)
	}
}
