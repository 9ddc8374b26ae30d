package server

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
)

// mustReserve reserves n bytes that are free.
func mustReserve(t *testing.T, m *limit.Memory, n int64) *limit.Reservation {
	t.Helper()
	r := m.Reserve(limit.Holder{})
	if err := r.Resize(t.Context(), n); err != nil {
		t.Fatalf("a reservation of %d bytes: %v", n, err)
	}
	return &r
}

// mustBeBusy fails the test unless the wait ends with limit.ErrBusy.
func mustBeBusy(t *testing.T, ask func() error) {
	t.Helper()
	begin := time.Now()
	if err := ask(); !errors.Is(err, limit.ErrBusy) || time.Since(begin) != action.MemoryWait {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestAPageIsSentAsItWasWritten(t *testing.T) {
	t.Parallel()
	m := limit.NewMemory(64*action.SmallBody, action.MemoryWait)
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, action.SmallBody, action.SmallBody + 1, 10*chunkSize + 7} {
		for _, piece := range []int{1, 1000, chunkSize, chunkSize + 1} {
			text := []byte(strings.Repeat("0123456", size/7+1)[:size])
			b, w := newAnswerBuffer(t.Context(), mustReserve(t, m, 0), false), httptest.NewRecorder()
			for part := range slices.Chunk(text, piece) {
				if n, err := b.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			b.shrink()
			if n, err := b.send(w, func() {}); n != int64(size) || err != nil || !bytes.Equal(w.Body.Bytes(), text) {
				t.Errorf("%d bytes by %d: %d, %v", size, piece, n, err)
			}
			if m.Held() != 0 {
				t.Errorf("%d bytes by %d: %d stay held", size, piece, m.Held())
			}
		}
	}
}

func TestALargePageHoldsMemory(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int64{1: 0, action.SmallBody: 0, action.SmallBody + 1: action.SmallBody + 1, 5 * action.SmallBody: 5 * action.SmallBody} {
		m := limit.NewMemory(64*action.SmallBody, action.MemoryWait)
		memory := mustReserve(t, m, 3*action.SmallBody) // of a body that the page is made of
		b := newAnswerBuffer(t.Context(), memory, false)
		if _, err := b.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		during := int64(3 * action.SmallBody)
		if want > 0 {
			during += renderFactor * want
		}
		if m.Held() != during {
			t.Errorf("%d bytes: %d are held during rendering, want %d", size, m.Held(), during)
		}
		b.shrink()
		if m.Held() != min(want, during) {
			t.Errorf("%d bytes: %d are held until they are sent, want %d", size, m.Held(), want)
		}
		b.drop()
		left := int64(max(0, size-chunkSize))
		if left <= action.SmallBody {
			left = 0
		}
		if m.Held() != left {
			t.Errorf("%d bytes: %d are held after a chunk was sent, want %d", size, m.Held(), left)
		}
		b.free()
		memory.Release()
		if m.Held() != 0 {
			t.Errorf("%d bytes: %d stay held", size, m.Held())
		}
	}
}

func TestAPageWaitsForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(4*action.SmallBody, action.MemoryWait)
		other := mustReserve(t, m, 2*action.SmallBody)
		write := func(reserved bool, size int) error {
			b := newAnswerBuffer(t.Context(), mustReserve(t, m, 0), reserved)
			defer b.memory.Release()
			_, err := b.Write(make([]byte, size))
			b.free()
			return err
		}
		if err := errors.Join(write(false, action.SmallBody), write(true, 9*action.SmallBody)); err != nil {
			t.Errorf("a small page, or one whose memory is reserved, must not wait: %v", err)
		}
		mustBeBusy(t, func() error { return write(false, action.SmallBody+1) })
		other.Release()
		if err := write(false, 9*action.SmallBody); err != nil {
			t.Errorf("a single page must get all there is: %v", err)
		}
	})
}

func TestTheDefaultMemorySufficesFor64Uploads(t *testing.T) {
	t.Parallel()
	m := limit.NewMemory(int64(config.Default().Limits.BodyMemory), action.MemoryWait)
	for range 64 {
		defer mustReserve(t, m, body.UploadMemory+action.SmallBody).Release()
	}
}
