package limit

import (
	"context"
	"errors"
	"sort"
	"testing"
	"testing/synctest"
	"time"
)

const (
	unit       = 64 << 10
	memoryWait = 5 * time.Second
)

// mustReserve reserves n bytes that are free.
func (m *Memory) mustReserve(t *testing.T, n int64) *Reservation {
	t.Helper()
	r := m.Reserve()
	if err := r.Resize(t.Context(), n); err != nil {
		t.Fatalf("a reservation of %d bytes: %v", n, err)
	}
	if free := m.countFree(); m.Held() != m.size-free || r.Held() > m.Held() {
		t.Fatalf("%d bytes are held, %d of them here, and %d are free", m.Held(), r.Held(), free)
	}
	return &r
}

// countFree finds out how many bytes can be reserved at once.
func (m *Memory) countFree() int64 {
	return int64(sort.Search(int(m.size), func(n int) bool {
		fits := m.free.TryAcquire(int64(n + 1))
		if fits {
			m.free.Release(int64(n + 1))
		}
		return !fits
	}))
}

// mustBeBusy fails the test unless resize returns ErrBusy when the wait is over.
func mustBeBusy(t *testing.T, resize func() error) {
	t.Helper()
	begin := time.Now()
	if err := resize(); !errors.Is(err, ErrBusy) || time.Since(begin) != memoryWait {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestReservationsShareAMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		first, second := m.mustReserve(t, 2*unit), m.mustReserve(t, 2*unit) // all there is
		m.mustReserve(t, 0).Release()
		third := m.Reserve()
		mustBeBusy(t, func() error { return third.Resize(t.Context(), unit+1) })
		time.AfterFunc(memoryWait/2, first.Release)
		m.mustReserve(t, unit+1).Release()
		second.Release()
		m.mustReserve(t, 1<<40).Release() // no more than there is
		m.mustReserve(t, 2*unit).Release()
	})
}

func TestAReservationCanBeResized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		large := m.mustReserve(t, 4*unit)
		if err := large.Resize(t.Context(), unit); err != nil {
			t.Fatal(err)
		}
		other := m.mustReserve(t, 3*unit)
		mustBeBusy(t, func() error { return large.Resize(t.Context(), unit+1) })
		time.AfterFunc(memoryWait/2, other.Release)
		if err := large.Resize(t.Context(), 4*unit); err != nil {
			t.Errorf("memory was free again: %v", err)
		}
		if err := large.Resize(t.Context(), 9*unit); err != nil {
			t.Errorf("a single reservation must get all there is: %v", err)
		}
		large.Release()
		m.mustReserve(t, 4*unit).Release()
	})
}

func TestReservationsThatWaitForEachOtherEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(4*unit, memoryWait)
		one := m.mustReserve(t, 2*unit)
		two := m.mustReserve(t, 2*unit)
		begin := time.Now()
		ended := make(chan error)
		go func() { ended <- two.Resize(t.Context(), 3*unit) }()
		err := one.Resize(t.Context(), 3*unit)
		if other := <-ended; !errors.Is(err, ErrBusy) || !errors.Is(other, ErrBusy) || time.Since(begin) != memoryWait {
			t.Errorf("after %v: %v and %v", time.Since(begin), err, other)
		}
		one.Release()
		two.Release()
		m.mustReserve(t, 4*unit).Release()
	})
}

func TestAWaitForMemoryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := NewMemory(2*unit, memoryWait)
	defer m.mustReserve(t, 2*unit).Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := m.Reserve()
	if err := r.Resize(ctx, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("the error is %v", err)
	}
}
