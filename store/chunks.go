package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"pushbox/store/seal"
)

const (
	// maxStep is how many chunks are kept in one step: 256 KiB. The engine takes as
	// many steps at a time as those who wait beside them can bear;
	// docs/performance.md has the figures.
	maxStep = 4
	minStep = 2

	// maxFlights is how many steps of a file are on their way at most, of all
	// uploads together and, where those are many, of each.
	maxFlights = 8
	minFlights = 2
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

// A chunkWriter seals a file and keeps it, step by step. While some steps are on
// their way to the disk or wait for the next commit, it reads and seals another.
type chunkWriter struct {
	upload  *Upload
	file    int
	cipher  *seal.FileCipher
	n       int      // chunks kept, or on their way
	flights []flight // the steps on their way, oldest first
	rest    []*step  // those to be used again
	steps   []*step  // all
}

// A flight is a step on its way, and what becomes of it.
type flight struct {
	step    *step
	outcome chan error
}

// copy keeps what r holds and returns how many bytes those are.
func (w *chunkWriter) copy(ctx context.Context, r io.Reader) (size int64, err error) {
	cur, next := w.rested(), w.rested()
	defer func() {
		if landErr := w.land(0); err == nil {
			err = landErr
		}
		for _, s := range w.steps {
			s.recycle()
		}
	}()
	length, flights := w.upload.store.uploads.share()
	end := fill(r, cur.chunk(0))
	for i := 0; ; i++ {
		if end != nil && !errors.Is(end, io.EOF) {
			return 0, end
		}
		if size += int64(len(*cur.chunk(i))); size > w.upload.store.options().Files.MaxSize {
			return 0, ErrFileSize
		}
		// Only what follows tells whether a chunk is the last: so it is read first.
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
		w.launch(ctx, cur, i+1)
		if last {
			return size, nil
		}
		if err := w.land(flights - 1); err != nil {
			return 0, err
		}
		length, flights = w.upload.store.uploads.share()
		cur, next, i = next, w.rested(), -1
	}
}

// launch sends the first n chunks of a step on their way.
func (w *chunkWriter) launch(ctx context.Context, s *step, n int) {
	u, first, chunks, outcome := w.upload, w.n, s.chunks[:n], make(chan error, 1)
	w.n += n
	w.flights = append(w.flights, flight{s, outcome})
	go func() { outcome <- u.store.engine.PutChunks(ctx, u.id, w.file, first, chunks) }()
}

// land waits until no more than left steps are on their way. Of several errors
// it returns the first.
func (w *chunkWriter) land(left int) (err error) {
	for len(w.flights) > left {
		f := w.flights[0]
		if outcome := <-f.outcome; err == nil {
			err = outcome
		}
		w.flights, w.rest = w.flights[1:], append(w.rest, f.step)
	}
	return err
}

// rested returns a step to be used again, or a new one.
func (w *chunkWriter) rested() *step {
	if len(w.rest) == 0 {
		s := new(step)
		w.steps = append(w.steps, s)
		return s
	}
	s := w.rest[len(w.rest)-1]
	w.rest = w.rest[:len(w.rest)-1]
	return s
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
