package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"pushbox/store/seal"
)

const (
	// maxStep is how many chunks are kept in one step, 1 MiB, by one upload; more
	// share them. Larger steps make an upload a little faster and everybody else
	// wait longer; docs/performance.md has the figures.
	maxStep = 16
	minStep = 2
)

// A buffer is memory for a chunk, as it is read and then sealed in place.
type buffer [seal.ChunkSize + seal.ChunkOverhead]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// A step is the chunks that are kept together.
type step struct {
	chunks [][]byte
	memory []*buffer
}

// chunk returns the chunk of that number, which is one of those there are or the
// next.
func (s *step) chunk(i int) *[]byte {
	if i == len(s.chunks) {
		b := buffers.Get().(*buffer)
		s.memory = append(s.memory, b)
		s.chunks = append(s.chunks, b[:0])
	}
	return &s.chunks[i]
}

// recycle gives the memory back, and nothing of what was in it.
func (s *step) recycle() {
	for _, b := range s.memory {
		clear(b[:])
		buffers.Put(b)
	}
}

// A chunkWriter seals a file and keeps it, step by step. While one step is on its
// way to the disk and one waits for the next commit, it reads and seals a third.
type chunkWriter struct {
	upload  *Upload
	file    int
	cipher  *seal.FileCipher
	n       int                  // chunks kept, or on their way
	steps   [maxFlights + 1]step // used in turn
	flights []chan error         // the outcomes of the steps on their way, oldest first
}

// maxFlights is how many steps of a file are on their way at most.
const maxFlights = 2

// copy keeps what r holds and returns how many bytes those are.
func (w *chunkWriter) copy(ctx context.Context, r io.Reader) (size int64, err error) {
	defer func() {
		if landErr := w.land(0); err == nil {
			err = landErr
		}
		for i := range w.steps {
			w.steps[i].recycle()
		}
	}()
	cur, next := &w.steps[0], &w.steps[1]
	length, turn := w.upload.store.uploads.share(), 1
	end := fill(r, cur.chunk(0))
	for i := 0; ; i++ {
		if end != nil && !errors.Is(end, io.EOF) {
			return 0, end
		}
		if size += int64(len(*cur.chunk(i))); size > w.upload.store.opts.Files.MaxSize {
			return 0, ErrFileSize
		}
		// Only what follows tells whether a chunk is the last: so it is read first.
		last := end != nil
		if !last {
			ahead, err := w.ahead(cur, next, i+1, length)
			if err != nil {
				return 0, err
			}
			end = fill(r, ahead)
			last = len(*ahead) == 0 && errors.Is(end, io.EOF)
		}
		plain := cur.chunk(i)
		*plain = w.cipher.Seal((*plain)[:0], uint64(w.n+i), last, *plain)
		if !last && i+1 < length {
			continue
		}
		w.launch(ctx, cur.chunks[:i+1])
		if last {
			return size, nil
		}
		turn = (turn + 1) % len(w.steps)
		cur, next = next, &w.steps[turn]
		length, i = w.upload.store.uploads.share(), -1
	}
}

// ahead is where chunk n of a step is read to, which is length chunks long: what
// is beyond it begins the next one, once that is not on its way any more.
func (w *chunkWriter) ahead(cur, next *step, n, length int) (*[]byte, error) {
	if n < length {
		return cur.chunk(n), nil
	}
	return next.chunk(0), w.land(maxFlights - 1)
}

// launch sends a step on its way. There is one on its way at most: the committer
// takes steps in the order in which they come.
func (w *chunkWriter) launch(ctx context.Context, chunks [][]byte) {
	u, first, flight := w.upload, w.n, make(chan error, 1)
	w.n += len(chunks)
	w.flights = append(w.flights, flight)
	go func() { flight <- u.store.engine.PutChunks(ctx, u.id, w.file, first, chunks) }()
}

// land waits until no more than left steps are on their way. Of several errors
// it returns the first.
func (w *chunkWriter) land(left int) (err error) {
	for len(w.flights) > left {
		if flightErr := <-w.flights[0]; err == nil {
			err = flightErr
		}
		w.flights = w.flights[1:]
	}
	return err
}

// fill reads a chunk: as much as there is room for, or less at the end, which is
// io.EOF then. Unlike io.ReadFull it keeps the end of a file apart from a reader
// that says that it was cut off.
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

// maxNoReads is how often in a row a reader may yield nothing.
const maxNoReads = 100
