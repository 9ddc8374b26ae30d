package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"pushbox/store/seal"
)

// chunkBatch is how many chunks are kept in one step: 512 KiB. Larger steps make
// an upload a little faster and everybody else wait longer; docs/performance.md
// has the figures.
const chunkBatch = 8

// A batch is the chunks of a step, as they are read and then sealed in place.
type batch [chunkBatch][]byte

var batches = sync.Pool{New: func() any {
	b := new(batch)
	for i := range b {
		b[i] = make([]byte, 0, seal.ChunkSize+seal.ChunkOverhead)
	}
	return b
}}

// recycle keeps a batch's memory, and nothing of what was in it.
func (b *batch) recycle() {
	for i := range b {
		clear(b[i][:cap(b[i])])
	}
	batches.Put(b)
}

// A chunkWriter seals a file and keeps it, step by step. While one step is on its
// way to the disk, it reads and seals the next.
type chunkWriter struct {
	upload *Upload
	file   int
	cipher *seal.FileCipher
	n      int        // chunks kept, or on their way
	flight chan error // the outcome of the step on its way; nil: there is none
}

// copy keeps what r holds and returns how many bytes those are.
func (w *chunkWriter) copy(ctx context.Context, r io.Reader) (size int64, err error) {
	cur, next := batches.Get().(*batch), batches.Get().(*batch)
	defer func() {
		if landErr := w.land(); err == nil {
			err = landErr
		}
		cur.recycle()
		next.recycle()
	}()
	var end error
	cur[0], end = fill(r, cur[0])
	for i := 0; ; i++ {
		if end != nil && !errors.Is(end, io.EOF) {
			return 0, end
		}
		if size += int64(len(cur[i])); size > w.upload.store.opts.Files.MaxSize {
			return 0, ErrFileSize
		}
		// Only what follows tells whether a chunk is the last: so it is read first.
		last := end != nil
		if !last {
			ahead, err := w.ahead(cur, next, i)
			if err != nil {
				return 0, err
			}
			*ahead, end = fill(r, *ahead)
			last = len(*ahead) == 0 && errors.Is(end, io.EOF)
		}
		cur[i] = w.cipher.Seal(cur[i][:0], uint64(w.n+i), last, cur[i])
		if !last && i+1 < chunkBatch {
			continue
		}
		if err := w.launch(ctx, cur[:i+1]); err != nil || last {
			return size, err
		}
		cur, next = next, cur
		i = -1
	}
}

// ahead is where the chunk after number i of a batch is read to: behind it, or
// to the front of the other batch, once that is not on its way any more.
func (w *chunkWriter) ahead(cur, next *batch, i int) (*[]byte, error) {
	if i+1 < chunkBatch {
		return &cur[i+1], nil
	}
	return &next[0], w.land()
}

// launch sends a step on its way, after the one before it.
func (w *chunkWriter) launch(ctx context.Context, chunks [][]byte) error {
	if err := w.land(); err != nil {
		return err
	}
	u, first, flight := w.upload, w.n, make(chan error, 1)
	w.n += len(chunks)
	w.flight = flight
	go func() { flight <- u.store.engine.PutChunks(ctx, u.id, w.file, first, chunks) }()
	return nil
}

// land waits for the step on its way.
func (w *chunkWriter) land() error {
	if w.flight == nil {
		return nil
	}
	err := <-w.flight
	w.flight = nil
	return err
}

// fill reads a chunk: as much as there is room for, or less at the end, which is
// io.EOF then. Unlike io.ReadFull it keeps the end of a file apart from a reader
// that says that it was cut off.
func fill(r io.Reader, buf []byte) (_ []byte, err error) {
	buf = buf[:0]
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
	return buf, err
}

// maxNoReads is how often in a row a reader may yield nothing.
const maxNoReads = 100
