package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// A Download reads a file under a grant. While it reads, it keeps the grant from
// running out. It is an io.ReadSeeker that opens just the chunks it is asked for
// and holds one of them. It is not safe for concurrent use.
type Download struct {
	FileInfo
	Tag string // an entity tag (RFC 9110 section 8.8.3) without quotes

	store  *Store
	ctx    context.Context // ends with the grant
	cancel context.CancelCauseFunc
	grant  Grant
	end    time.Time // of the push; where an edit brings it forward, the sweeper ends the download
	file   int
	cipher *seal.FileCipher

	offset int64
	plain  []byte // the chunk that was opened last
	chunk  int64  // its number; -1: none
	sealed []byte
}

// Download begins to read the file of that number, from 0, of the push that the
// grant is for. Whoever begins calls Close. ErrNotFound if the grant is unknown
// or has ended, or there is no such file; ErrClock where a jump of the clock
// leaves that open; ErrCorrupt if the file is not whole.
func (s *Store) Download(ctx context.Context, grant secret.Text, file int) (*Download, error) {
	g, p, err := s.engine.Grant(ctx, seal.Digest(grant))
	if err != nil {
		return nil, err
	}
	if err := s.admit(ctx, g.within(p.ExpiresAt)); err != nil {
		return nil, err
	}
	key, err := s.ring.Load().OpenGrant(p.ID[:], grant, g.Sealed)
	if err != nil {
		return nil, damaged(p.ID, "grant")
	}
	files, err := openFiles(p, key)
	if err != nil {
		return nil, err
	}
	if file < 0 || file >= len(files) {
		return nil, ErrNotFound
	}
	d := &Download{
		FileInfo: files[file], Tag: entityTag(p.ID, file),
		store: s, grant: g.within(p.ExpiresAt), end: p.ExpiresAt, file: file, cipher: key.File(blobID(p.ID, file)), chunk: -1,
	}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	s.downloads.add(d)
	if err := d.open(seal.Chunks(d.Size) - 1); err != nil { // a file that was cut short has no such last chunk
		d.Close()
		return nil, err
	}
	return d, nil
}

// admit refuses a grant that has ended, and makes sure first that no clock
// brings it back.
func (s *Store) admit(ctx context.Context, g Grant) error {
	at := s.time.read()
	err := g.check(at)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, endErr := s.engine.ChangeGrant(ctx, g.Digest, endGrantRule(at)); endErr != nil && !errors.Is(endErr, ErrNotFound) {
		return endErr
	}
	return ErrNotFound
}

// AfterEnd has f called, in a goroutine of its own, when the download must end:
// by Close, with its context, or with the push's files. As with
// context.AfterFunc, stop keeps that from happening.
func (d *Download) AfterEnd(f func()) (stop func() bool) { return context.AfterFunc(d.ctx, f) }

// Close ends the download.
func (d *Download) Close() {
	d.cancel(nil)
	d.store.downloads.remove(d)
	clear(d.plain[:cap(d.plain)])
}

// Read reads on. The errors are those of Store.Download, and what ended the
// context.
func (d *Download) Read(p []byte) (int, error) {
	if d.offset >= d.Size {
		return 0, io.EOF
	}
	if err := d.open(d.offset / seal.ChunkSize); err != nil {
		return 0, err
	}
	if err := d.slide(); err != nil {
		return 0, err
	}
	n := copy(p, d.plain[d.offset%seal.ChunkSize:])
	d.offset += int64(n)
	return n, nil
}

// Seek moves to where the next Read begins.
func (d *Download) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.offset
	case io.SeekEnd:
		offset += d.Size
	}
	if offset < 0 {
		return 0, errors.New("seek to before the start of a file")
	}
	d.offset = offset
	return offset, nil
}

// open opens a chunk, unless that is the one that is open.
func (d *Download) open(n int64) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if n == d.chunk {
		return nil
	}
	g, sealed, err := d.store.engine.Chunk(d.ctx, d.grant.Digest, d.file, int(n), d.sealed[:0])
	if err != nil {
		return err
	}
	d.grant, d.sealed = g.within(d.end), sealed
	if err := d.store.admit(d.ctx, d.grant); err != nil {
		return err
	}
	d.chunk = -1
	last := n == seal.Chunks(d.Size)-1
	if d.plain, err = d.cipher.Open(d.plain[:0], uint64(n), last, d.sealed); err != nil || int64(len(d.plain)) != min(d.Size-n*seal.ChunkSize, seal.ChunkSize) {
		return damaged(d.grant.Push, fmt.Sprintf("chunk %d of file %d", n, d.file))
	}
	d.chunk = n
	return nil
}

// slide moves the end of the grant while the download runs.
func (d *Download) slide() error {
	at, window := d.store.time.read(), d.store.options().Files.Window
	if !d.grant.slides(at, window) {
		return nil
	}
	g, err := d.store.engine.ChangeGrant(d.ctx, d.grant.Digest, slideRule(at, window))
	if err == nil {
		d.grant = g.within(d.end)
	}
	return err
}

// downloads are those that run, so that they can be ended.
type downloads struct {
	mu  sync.Mutex
	all map[ID]map[*Download]bool
}

func (ds *downloads) add(d *Download) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.all == nil {
		ds.all = make(map[ID]map[*Download]bool)
	}
	if ds.all[d.grant.Push] == nil {
		ds.all[d.grant.Push] = make(map[*Download]bool)
	}
	ds.all[d.grant.Push][d] = true
}

func (ds *downloads) remove(d *Download) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	of := ds.all[d.grant.Push]
	if delete(of, d); len(of) == 0 {
		delete(ds.all, d.grant.Push)
	}
}

// end ends those of a push. Others that begin find no grant.
func (ds *downloads) end(id ID) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for d := range ds.all[id] {
		d.cancel(ErrNotFound)
	}
}
