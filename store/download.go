package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"pushbox/store/clock"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Download reads a file under a grant, and keeps the grant from ending meanwhile. It
// is an io.ReadSeeker that opens only the chunks that it needs, and holds one of them.
// It is not safe for concurrent use.
type Download struct {
	FileInfo
	Tag   string // an entity tag (RFC 9110 section 8.8.3) without quotes
	Files int    // that the push has

	store  *Store
	ctx    context.Context // ends with the grant
	cancel context.CancelCauseFunc
	grant  record.Grant
	end    time.Time // of the push; if an edit brings it forward, the sweeper ends the download
	file   int
	cipher *seal.FileCipher

	offset int64
	plain  []byte // the open chunk
	chunk  int64  // its number; -1: none
	sealed []byte
}

// Download begins to read a file, by its number from 0, of the push that the grant is
// for. The caller must call Close. ErrNotFound if the grant is unknown or has ended, or
// there is no such file; ErrClock if a jump of the clock leaves open whether the grant
// has ended; ErrCorrupt if the file is not whole.
func (s *Store) Download(ctx context.Context, grant secret.Text, file int) (*Download, error) {
	g, p, err := s.engine.Grant(ctx, seal.Digest(grant))
	if err != nil {
		return nil, err
	}
	if err := s.checkGrant(ctx, grantWithin(g, p.ExpiresAt)); err != nil {
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
		return nil, record.ErrNotFound
	}
	d := &Download{
		FileInfo: files[file], Tag: entityTag(p.ID, file), Files: len(files),
		store: s, grant: grantWithin(g, p.ExpiresAt), end: p.ExpiresAt, file: file, cipher: key.File(blobID(p.ID, file)), chunk: -1,
	}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	s.downloads.add(d)
	if err := d.open(seal.Chunks(d.Size) - 1); err != nil { // fails if the file was cut short
		d.Close()
		return nil, err
	}
	return d, nil
}

// checkGrant refuses a grant that has ended. It removes the grant first, so that no clock
// brings it back.
func (s *Store) checkGrant(ctx context.Context, g record.Grant) error {
	at := s.time.Read()
	err := checkGrant(g, at)
	if !errors.Is(err, record.ErrNotFound) {
		return err
	}
	if _, endErr := s.engine.ChangeGrant(ctx, g.Digest, endGrantRule(at)); endErr != nil && !errors.Is(endErr, record.ErrNotFound) {
		return endErr
	}
	return record.ErrNotFound
}

// AfterEnd calls f in its own goroutine when the download must end: by Close, with its
// context, or with the push's files. stop is that of context.AfterFunc.
func (d *Download) AfterEnd(f func()) (stop func() bool) { return context.AfterFunc(d.ctx, f) }

// Close ends the download.
func (d *Download) Close() {
	d.cancel(nil)
	d.store.downloads.remove(d)
	clear(d.plain[:cap(d.plain)])
}

// Read is that of io.Reader. Its errors are those of Store.Download, and the cause if the download
// was cancelled.
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

// Seek is that of io.Seeker.
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

// open opens chunk n, unless it is open.
func (d *Download) open(n int64) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if n == d.chunk {
		return nil
	}
	g, sealed, err := d.store.engine.Chunk(d.ctx, d.grant.Digest, d.file, int(n), d.sealed[:0])
	if err != nil {
		return d.because(err)
	}
	d.grant, d.sealed = grantWithin(g, d.end), sealed
	if err := d.store.checkGrant(d.ctx, d.grant); err != nil {
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
	at, window := d.store.time.Read(), d.store.options().Files.Window
	if !grantSlides(d.grant, at, window) {
		return nil
	}
	g, err := d.store.engine.ChangeGrant(d.ctx, d.grant.Digest, slideRule(at, window))
	if err == nil {
		d.grant = grantWithin(g, d.end)
	}
	return d.because(err)
}

// because returns why the download was cancelled, if it was, and otherwise err.
func (d *Download) because(err error) error {
	if err != nil && d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	return err
}

// downloads are the running ones, by push, so that they can be cut.
type downloads struct {
	mu  sync.Mutex
	all map[record.ID]map[*Download]bool
}

func (ds *downloads) add(d *Download) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.all == nil {
		ds.all = make(map[record.ID]map[*Download]bool)
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

// end cuts the downloads of a push. Those that begin later find no grant.
func (ds *downloads) end(id record.ID) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for d := range ds.all[id] {
		d.cancel(record.ErrNotFound)
	}
}

// longestGrant is how long downloads can extend a grant.
const longestGrant = 24 * time.Hour

// newGrant makes a grant for the files of p that is valid for window.
func newGrant(p record.Push, at clock.Instant, window time.Duration) *record.NewGrant {
	g := record.Grant{Push: p.ID, Until: record.Earlier(at.Now.Add(longestGrant), p.ExpiresAt)}
	g.ExpiresAt = record.Earlier(at.Now.Add(window), g.Until)
	return &record.NewGrant{Grant: g, Ended: at.Ends}
}

// checkGrant returns nil while the grant is valid, ErrNotFound once it has ended, and ErrClock
// while the clock is in doubt and decides that.
func checkGrant(g record.Grant, at clock.Instant) error {
	switch {
	case !at.Ends.Before(g.ExpiresAt):
		return record.ErrNotFound
	case !at.Denies.Before(g.ExpiresAt):
		return record.ErrClock
	default:
		return nil
	}
}

// grantWithin limits the times of a grant to the end of its push, which an edit may have moved to
// an earlier time.
func grantWithin(g record.Grant, end time.Time) record.Grant {
	g.ExpiresAt, g.Until = record.Earlier(g.ExpiresAt, end), record.Earlier(g.Until, end)
	return g
}

// grantSlides reports whether a running download should extend the grant. It need not at
// each chunk, since each extension costs a commit.
func grantSlides(g record.Grant, at clock.Instant, window time.Duration) bool {
	to := record.Earlier(at.Now.Add(window), g.Until)
	return to.Sub(g.ExpiresAt) >= window/8
}

// slideRule extends a grant to where a new one would end, unless it has ended.
func slideRule(at clock.Instant, window time.Duration) record.GrantRule {
	return func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		now := grantWithin(g, p.ExpiresAt)
		if checkGrant(now, at) != nil {
			return p, g, true
		}
		g.ExpiresAt = record.Later(g.ExpiresAt, record.Earlier(at.Now.Add(window), now.Until))
		p.GrantsEnd = record.Later(p.GrantsEnd, g.ExpiresAt)
		return p, g, true
	}
}

// endGrantRule removes a grant whose time is over.
func endGrantRule(at clock.Instant) record.GrantRule {
	return func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		return p, g, at.Ends.Before(grantWithin(g, p.ExpiresAt).ExpiresAt)
	}
}
