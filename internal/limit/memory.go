package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Memory is a budget of bytes that large requests, or large answers, share: one client
// may have an eighth of it, or one reservation of any size. It is safe for concurrent use.
type Memory struct {
	wait time.Duration

	mu      sync.Mutex
	shares  shares
	waiting []*growth // in the order in which they began to wait
}

// NewMemory returns a budget of size bytes. A reservation waits at most that long until
// others give memory back.
func NewMemory(size int64, wait time.Duration) *Memory {
	return &Memory{wait: wait, shares: newShares(size, size/part)}
}

// Reserve returns a reservation of no bytes. It must be released.
func (m *Memory) Reserve(by Holder) Reservation { return Reservation{memory: m, by: by} }

// Held returns how many bytes all reservations hold together.
func (m *Memory) Held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shares.held
}

// A growth is n bytes more for a reservation that holds own bytes.
type growth struct {
	by      []Step
	own, n  int64
	granted chan struct{} // of a waiting growth: closed when it is granted
}

// try gives a growth its bytes if there are enough. The caller holds the lock.
func (m *Memory) try(g *growth) bool {
	if !m.shares.fit(g.by, g.own, g.n) {
		return false
	}
	m.shares.add(g.by, g.n)
	return true
}

// begin gives a growth its bytes and returns true, or has it wait for them.
func (m *Memory) begin(g *growth) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.try(g) {
		return true
	}
	g.granted = make(chan struct{})
	m.waiting = append(m.waiting, g)
	return false
}

// await waits for a growth, and reports whether it has its bytes.
func (m *Memory) await(ctx context.Context, g *growth) bool {
	ctx, cancel := context.WithTimeout(ctx, m.wait)
	defer cancel()
	select {
	case <-g.granted:
		return true
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.waiting, g)
	if i < 0 { // granted at the same time
		return true
	}
	m.waiting = slices.Delete(m.waiting, i, i+1)
	return false
}

// give gives n bytes back, and grants growths that fit now. A growth that is too large for the free
// bytes, or for the share of its client, does not block others.
func (m *Memory) give(by []Step, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shares.add(by, -n)
	m.waiting = slices.DeleteFunc(m.waiting, func(g *growth) bool {
		fits := m.try(g)
		if fits {
			close(g.granted)
		}
		return fits
	})
}

// A Reservation is the part of a Memory that one request holds. The zero value
// holds nothing and cannot grow. It is not safe for concurrent use.
type Reservation struct {
	memory *Memory
	by     Holder
	steps  []Step // of by, from its first byte on
	held   int64
}

// Held returns how many bytes the reservation holds.
func (r *Reservation) Held() int64 { return r.held }

// Resize makes the reservation n bytes, or the whole budget if n is more. It waits for
// other reservations as needed, and returns ErrBusy if they free too little in time or
// ctx ends. Reservations that hold some bytes and wait for each other end in this way,
// too.
func (r *Reservation) Resize(ctx context.Context, n int64) error {
	m := r.memory
	n = min(n, m.shares.total)
	if n <= r.held {
		r.Shrink(n)
		return nil
	}
	if r.held == 0 {
		r.steps = r.by.steps()
	}
	g := &growth{by: r.steps, own: r.held, n: n - r.held}
	if !m.begin(g) && !m.await(ctx, g) {
		return ErrBusy
	}
	r.held = n
	return nil
}

// Shrink gives back what the reservation holds beyond n bytes.
func (r *Reservation) Shrink(n int64) {
	if n < r.held {
		r.memory.give(r.steps, r.held-n)
		r.held = n
	}
}

// Release gives back all that the reservation holds.
func (r *Reservation) Release() { r.Shrink(0) }
