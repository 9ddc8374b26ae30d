package limit

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// A Memory is a budget of bytes that large requests, or large answers, share. It
// is safe for concurrent use.
type Memory struct {
	free *semaphore.Weighted
	size int64
	wait time.Duration
	held atomic.Int64
}

// NewMemory returns a budget of size bytes. A reservation waits at most that long until
// others give memory back.
func NewMemory(size int64, wait time.Duration) *Memory {
	return &Memory{free: semaphore.NewWeighted(size), size: size, wait: wait}
}

// Reserve returns a reservation of no bytes. It must be released.
func (m *Memory) Reserve() Reservation { return Reservation{memory: m} }

// Held returns how many bytes all reservations hold together.
func (m *Memory) Held() int64 { return m.held.Load() }

// A Reservation is the part of a Memory that one request holds. The zero value
// holds nothing and cannot grow. It is not safe for concurrent use.
type Reservation struct {
	memory *Memory
	held   int64
}

// Held returns how many bytes the reservation holds.
func (r *Reservation) Held() int64 { return r.held }

// Resize makes the reservation n bytes, or the whole budget if n is more. It waits for
// other reservations as needed, and returns ErrBusy if they free too little in time or
// ctx ends. Reservations that hold some bytes and wait for each other end in this way,
// too.
func (r *Reservation) Resize(ctx context.Context, n int64) error {
	n = min(n, r.memory.size)
	if n <= r.held {
		r.Shrink(n)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.memory.wait)
	defer cancel()
	if r.memory.free.Acquire(ctx, n-r.held) != nil {
		return ErrBusy
	}
	r.set(n)
	return nil
}

// Shrink gives back what the reservation holds beyond n bytes.
func (r *Reservation) Shrink(n int64) {
	if n < r.held {
		r.memory.free.Release(r.held - n)
		r.set(n)
	}
}

// Release gives back all that the reservation holds.
func (r *Reservation) Release() { r.Shrink(0) }

func (r *Reservation) set(n int64) {
	r.memory.held.Add(n - r.held)
	r.held = n
}
