package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"pushbox/store/record"
	"pushbox/store/seal"
)

const (
	// maxStep is how many chunks go to the engine in one step: 256 KiB. How many steps
	// share a commit is the engine's decision; docs/performance.md has the figures.
	maxStep = 4
	minStep = 2

	// maxInFlight is how many steps of all uploads may be in flight. Each upload may have at least
	// minInFlight, however many uploads there are.
	maxInFlight = 8
	minInFlight = 2
)

// A buffer is memory for a chunk, which is read and sealed in place.
type buffer [seal.ChunkSize + seal.ChunkOverhead]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// A step is the chunks that the engine keeps in one call.
type step struct {
	chunks [][]byte
	memory []*buffer
}

// chunk returns chunk i, which is an existing one or the next.
func (s *step) chunk(i int) *[]byte {
	if i == len(s.chunks) {
		b := buffers.Get().(*buffer)
		s.memory = append(s.memory, b)
		s.chunks = append(s.chunks, b[:0])
	}
	return &s.chunks[i]
}

// recycle overwrites the memory and gives it back.
func (s *step) recycle() {
	for _, b := range s.memory {
		clear(b[:])
		buffers.Put(b)
	}
}

// A chunkWriter seals a file and keeps it, step by step. It reads and seals the next
// step while others wait for their commit.
type chunkWriter struct {
	upload  *Upload
	file    int
	cipher  *seal.FileCipher
	n       int        // chunks submitted
	pending []inFlight // the steps in flight, oldest first
	rest    []*step    // steps to reuse
	steps   []*step    // all
}

// An inFlight is a step on its way to the disk, and its outcome.
type inFlight struct {
	step    *step
	outcome chan error
}

// copy keeps the file that r holds and returns its size in bytes.
func (w *chunkWriter) copy(ctx context.Context, r io.Reader) (size int64, err error) {
	cur, next := w.free(), w.free()
	defer func() {
		if waitErr := w.wait(0); err == nil {
			err = waitErr
		}
		for _, s := range w.steps {
			s.recycle()
		}
	}()
	length, inFlight := w.upload.store.uploads.budget()
	end := fill(r, cur.chunk(0))
	for i := 0; ; i++ {
		if end != nil && !errors.Is(end, io.EOF) {
			return 0, end
		}
		if size += int64(len(*cur.chunk(i))); size > w.upload.policy.Files.MaxSize {
			return 0, record.ErrFileSize
		}
		// Whether a chunk is the last shows only when the next one is read.
		last := end != nil
		if !last {
			ahead := next.chunk(0)
			if i+1 < length {
				ahead = cur.chunk(i + 1)
			}
			end = fill(r, ahead)
			last = len(*ahead) == 0 && errors.Is(end, io.EOF)
		}
		plain := cur.chunk(i)
		*plain = w.cipher.Seal((*plain)[:0], uint64(w.n+i), last, *plain)
		if !last && i+1 < length {
			continue
		}
		w.submit(ctx, cur, i+1)
		if last {
			return size, nil
		}
		if err := w.wait(inFlight - 1); err != nil {
			return 0, err
		}
		length, inFlight = w.upload.store.uploads.budget()
		cur, next, i = next, w.free(), -1
	}
}

// submit sends the first n chunks of a step to the engine.
func (w *chunkWriter) submit(ctx context.Context, s *step, n int) {
	u, first, chunks, outcome := w.upload, w.n, s.chunks[:n], make(chan error, 1)
	w.n += n
	w.pending = append(w.pending, inFlight{s, outcome})
	go func() { outcome <- u.store.engine.PutChunks(ctx, u.id, w.file, first, chunks) }()
}

// wait waits until at most left steps are in flight, and returns the first error.
func (w *chunkWriter) wait(left int) (err error) {
	for len(w.pending) > left {
		f := w.pending[0]
		if outcome := <-f.outcome; err == nil {
			err = outcome
		}
		w.pending, w.rest = w.pending[1:], append(w.rest, f.step)
	}
	return err
}

// free returns a step that is not in flight.
func (w *chunkWriter) free() *step {
	if len(w.rest) == 0 {
		s := new(step)
		w.steps = append(w.steps, s)
		return s
	}
	s := w.rest[len(w.rest)-1]
	w.rest = w.rest[:len(w.rest)-1]
	return s
}

// fill reads a chunk: seal.ChunkSize bytes, or fewer and io.EOF at the end. Unlike io.ReadFull it
// returns io.ErrUnexpectedEOF of the reader, which means that the upload was cut off.
func fill(r io.Reader, chunk *[]byte) (err error) {
	buf := (*chunk)[:0]
	for idle := 0; len(buf) < seal.ChunkSize && err == nil; {
		var n int
		n, err = r.Read(buf[len(buf):seal.ChunkSize])
		buf = buf[:len(buf)+n]
		if n > 0 {
			idle = 0
		} else if idle++; idle > maxNoReads {
			err = io.ErrNoProgress
		}
	}
	*chunk = buf
	return err
}

// maxNoReads is how many reads in a row may return no bytes.
const maxNoReads = 100
