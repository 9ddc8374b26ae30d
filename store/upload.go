package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"pushbox/store/seal"
)

const (
	freeBatch   = 256              // chunks removed in a step: some 16 MiB
	discardTime = 10 * time.Second // for giving back what an upload took; the sweeper has the rest
)

// An Upload takes the files of a push that is to be created, sealed on their
// way. They are part of nothing until CreatePush, and gone if there is none. It
// is not safe for concurrent use.
type Upload struct {
	store  *Store
	token  Token
	id     ID
	dek    seal.DEK
	key    seal.FilesKey
	files  []FileInfo
	stored int64
	broken bool // a file was cut off: its chunks must not be sealed again
	kept   bool // the push was created
}

var errBroken = errors.New("an upload that failed goes on")

// NewUpload begins an upload. Whoever begins one calls Close.
func (s *Store) NewUpload() *Upload {
	t := NewToken(s.time.read().now)
	u := &Upload{store: s, token: t, id: s.id(t), dek: seal.NewDEK()}
	u.key = u.dek.FilesKey()
	s.uploads.add(u.id)
	return u
}

// Len is how many files were added.
func (u *Upload) Len() int { return len(u.files) }

// Add reads a file to its end and keeps it under a name that says nothing, until
// Describe gives another. Memory does not grow with the file.
//
// Errors: *InvalidError if there may be no file, or not so many; ErrFileSize;
// ErrFull; and any error of content but io.EOF. After an error the upload is
// good for Close alone.
func (u *Upload) Add(ctx context.Context, content io.Reader) error {
	if err := u.mayAdd(); err != nil {
		return err
	}
	w := chunkWriter{upload: u, file: len(u.files), cipher: u.key.File(blobID(u.id, len(u.files)))}
	size, err := w.copy(ctx, content)
	if err != nil {
		u.broken = true
		return err
	}
	u.files = append(u.files, FileInfo{Size: size})
	u.stored += seal.SealedSize(size)
	u.Describe("", "")
	return nil
}

// Describe says what the file added last is called, and what its sender takes
// it for. Both are made harmless.
func (u *Upload) Describe(name, mediaType string) {
	f := &u.files[len(u.files)-1]
	f.Name, f.ContentType = fileName(name), contentType(mediaType)
}

func (u *Upload) mayAdd() error {
	if u.broken {
		return errBroken
	}
	var bad InvalidError
	limit := u.store.options().Files.MaxCount
	switch {
	case !u.store.options().Terms[File].Enabled:
		bad.Add("kind", File.String()+" pushes are disabled")
	case len(u.files) >= limit:
		bad.Add("files", "are too many (maximum is "+strconv.Itoa(limit)+")")
	}
	return bad.Err()
}

// Close ends the upload. Unless its push was created it gives back what its files
// took, also where ctx has ended; should that fail, the sweeper does it.
func (u *Upload) Close(ctx context.Context) error {
	defer u.store.uploads.remove(u.id)
	if u.kept {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return u.store.free(ctx, u.id)
}

// free removes orphaned chunks, in steps that hold up nobody.
func (s *Store) free(ctx context.Context, id ID) error {
	for {
		more, err := s.engine.FreeOrphans(ctx, id, freeBatch)
		if err != nil || !more {
			return err
		}
	}
}

// freeOrphans removes the chunks of uploads that were cut short, and of pushes
// that hold files no more. What cannot be removed stays behind and does not hold
// up the others.
func (s *Store) freeOrphans(ctx context.Context) (err error) {
	for last := (ID{}); ; {
		ids, listErr := s.engine.Orphans(ctx, last, listBatch)
		if listErr != nil {
			return errors.Join(err, listErr)
		}
		for _, id := range ids {
			if s.uploads.has(id) {
				continue
			}
			if freeErr := s.free(ctx, id); freeErr != nil && err == nil {
				err = fmt.Errorf("free the files of push %s: %w", id, freeErr)
			}
		}
		if len(ids) < listBatch {
			return err
		}
		last = ids[len(ids)-1]
	}
}

// running are the uploads that must not be taken for ones that were cut short.
type running struct {
	mu  sync.Mutex
	ids map[ID]bool
}

func (r *running) add(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = make(map[ID]bool)
	}
	r.ids[id] = true
}

func (r *running) remove(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, id)
}

// share is how many chunks a step of one of them has, and how many steps of it
// are on their way at most: all together keep about what two commits take.
func (r *running) share() (length, flights int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := max(1, len(r.ids))
	return max(minStep, maxStep/n), max(minFlights, maxFlights/n)
}

func (r *running) has(id ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}
