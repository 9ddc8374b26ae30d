package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store"
)

// A DB is a store.Engine in one bbolt file. Its methods may be called at the
// same time.
type DB struct {
	path    string // of the file itself, where the name asked for is a link
	current atomic.Pointer[handle]
	limits  atomic.Pointer[limits]

	queue   chan *op
	bulk    chan *op    // those that move much data
	ops     sync.Pool   // of *op, for their channels
	batch   []*op       // the committer's
	lull    *time.Timer // the committer's: until then somebody may come
	quiet   int         // commits since the last one with operations that are no bulk; the committer's
	tx      tx          // the committer's
	writing sync.Mutex  // held while a batch runs: no page changes without it, nor the handle
	journal *journal
	stirred bool // there was a commit since the mapping was let go of. Guarded by writing
	census  census
	observe func(operations int, took time.Duration) // never nil
	changes *changes                                 // what a compaction has to copy again; nil: none runs. Guarded by writing

	compacting chan struct{}  // holds a value while a compaction runs, and after Close
	replaced   sync.WaitGroup // of those that close handles

	closing   chan struct{} // closed by Close
	stopped   chan struct{} // closed when the committer is gone
	failed    chan struct{} // closed when failure is set
	failOnce  sync.Once
	failure   error // wraps store.ErrFailed
	closeOnce sync.Once
	closeErr  error
}

var _ store.Engine = (*DB)(nil)

// Failed is closed when an outcome became unknown: every method returns
// store.ErrFailed from then on.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Close ends a compaction, waits for the batch and the readers that run, refuses
// the rest with store.ErrClosed and lets go of the file. Doing it again returns
// the same.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		close(db.closing)
		<-db.stopped
		h := db.current.Load()
		select {
		case db.compacting <- struct{}{}:
			db.closeErr = db.finish()
		case <-h.damaged: // and the compaction may wait for a lock that nobody will let go of
		}
		db.closeErr = errors.Join(db.closeErr, db.current.Load().close())
		db.replaced.Wait()
	})
	return db.closeErr
}

// finish leaves the file as the next to open it likes it best, unless nobody
// knows what it holds.
func (db *DB) finish() error {
	select {
	case <-db.failed:
		return nil
	default:
		return db.current.Load().writeList()
	}
}

// admit refuses an operation that must not begin.
func (db *DB) admit(ctx context.Context) error {
	if err := db.refusal(); err != nil {
		return err
	}
	return ctx.Err()
}

// refusal is why the DB does nothing any more; nil while it does.
func (db *DB) refusal() error {
	select {
	case <-db.failed:
		return db.failure
	default:
	}
	select {
	case <-db.closing:
		return store.ErrClosed
	default:
		return nil
	}
}

// fail makes the DB refuse everything from now on, and returns with what.
func (db *DB) fail(cause error) error {
	db.failOnce.Do(func() {
		db.failure = fmt.Errorf("%w: %w", store.ErrFailed, cause)
		close(db.failed)
	})
	return db.failure
}

// maxTries is how often a reader begins again because a commit came between it and
// what it looked at.
const maxTries = 8

// view runs fn in a read transaction, sometimes again. What fn keeps must be copies.
// It returns when what was read is on the disk: bbolt shows a commit to readers a
// moment before its last sync, and a power cut in that moment would take back what
// somebody was told.
func (db *DB) view(ctx context.Context, fn func(*tx) error) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	for range maxTries {
		if err := db.look(fn, db.awaitCommit); !errors.Is(err, errStale) {
			return err
		}
	}
	db.writing.Lock() // nothing comes between any more
	defer db.writing.Unlock()
	if err := db.refusal(); err != nil {
		return err
	}
	return db.look(fn, func() error { return nil }) // and what there is was synced
}

// look is one try of a view. Where it sees a commit that is not known to be on the disk,
// it returns when that is.
func (db *DB) look(fn func(*tx) error, await func() error) error {
	over := db.journal.overlay() // before the transaction begins: it sees what is folded meanwhile
	h := db.enter()
	if h == nil {
		return store.ErrClosed
	}
	defer h.leave()
	var seen int64
	err := h.read(func(t *tx) error {
		seen, t.over = int64(t.bolt.ID()), over
		return fn(t)
	})
	if seen > h.synced.Load() {
		if err := await(); err != nil {
			return err
		}
	}
	if h.noteDamage(err) {
		return db.fail(err)
	}
	return err
}

// enter returns the handle, entered; nil when the DB is closing. One that was
// replaced in the moment between is not entered: the new one is there by then.
func (db *DB) enter() *handle {
	for {
		h := db.current.Load()
		if h.enter() {
			return h
		}
		if db.current.Load() == h {
			return nil
		}
	}
}

// awaitCommit waits for the commit that runs, if one does, and returns an error
// if the DB has failed.
func (db *DB) awaitCommit() error {
	db.writing.Lock()
	defer db.writing.Unlock()
	select {
	case <-db.failed:
		return db.failure
	default:
		return nil
	}
}

// A damageError is a panic of bbolt, or a fault in its mapping.
type damageError struct{ reason any }

func (e *damageError) Error() string {
	return fmt.Sprintf("%v: %v", store.ErrCorrupt, e.reason)
}

// Unwrap returns store.ErrCorrupt.
func (*damageError) Unwrap() error { return store.ErrCorrupt }

// guard runs fn and turns a panic into a *damageError: bbolt panics when a page
// is not what it should be, and a page that the file does not have is a fault.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = &damageError{reason}
		}
	}()
	return fn()
}
