package client

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"
)

const (
	large = 64 << 20 // bytes
	spare = 8 << 20  // bytes that may be allocated on the way, by client and server together
)

// allocated is how many bytes a call allocates, all goroutines taken together.
// The test that uses it must not be parallel.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// flow is large bytes through a pipe, which holds none of them.
func flow() *io.PipeReader {
	r, w := io.Pipe()
	go func() { // ends when the last byte was read, or the reader is closed
		piece := make([]byte, 64<<10)
		for range large / len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	return r
}

func TestMemoryDoesNotGrowWithAnUpload(t *testing.T) {
	received := int64(0)
	f := serving(t, func(w http.ResponseWriter, r *http.Request) {
		received, _ = io.Copy(io.Discard, r.Body)
		says(http.StatusCreated, madeBody)(w, r)
	})
	for _, size := range []int64{large, -1} {
		got := allocated(func() {
			in := NewPush{Files: []Upload{{"large", size, flow()}}}
			if _, err := f.client().Create(t.Context(), in, nil); err != nil {
				t.Error(err)
			}
		})
		if received < large || got > spare {
			t.Errorf("size %d: %d bytes arrived, and %d were allocated", size, received, got)
		}
	}
}

func TestMemoryDoesNotGrowWithADownload(t *testing.T) {
	f := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(large))
		r := flow()
		defer func() { _ = r.Close() }()
		_, _ = io.CopyBuffer(struct{ io.Writer }{w}, r, make([]byte, 64<<10))
	})
	dst := target(t)
	got := allocated(func() {
		if err := f.client().Download(t.Context(), f.file(large), dst, nil); err != nil {
			t.Error(err)
		}
	})
	info, err := os.Stat(dst.Name())
	if err != nil || info.Size() != large || got > spare {
		t.Errorf("%v, %d bytes, and %d were allocated", err, info.Size(), got)
	}
}
