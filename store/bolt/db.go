package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/store"
)

// A DB is a store.Engine in one bbolt file. Its methods may be called at the
// same time.
type DB struct {
	bolt   *bbolt.DB
	file   *os.File // bbolt's own, to let go of the lock when bbolt cannot
	limits limits

	queue   chan *op
	ops     sync.Pool    // of *op, for their channels
	batch   []*op        // the committer's
	tx      tx           // the committer's
	writing sync.Mutex   // held while a batch runs: no page changes without it
	synced  atomic.Int64 // the last transaction that is on the disk

	closing   chan struct{} // closed by Close
	stopped   chan struct{} // closed when the committer is gone
	failed    chan struct{} // closed when failure is set
	failOnce  sync.Once
	failure   error       // wraps store.ErrFailed
	wedged    atomic.Bool // a panic may have left bbolt's locks held
	closeOnce sync.Once
	closeErr  error
}

var _ store.Engine = (*DB)(nil)

// Failed is closed when an outcome became unknown: every method returns
// store.ErrFailed from then on.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Close waits for the batch and the readers that run, refuses the rest with
// store.ErrClosed and lets go of the file. Doing it again returns the same.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		close(db.closing)
		<-db.stopped
		db.closeErr = db.release()
	})
	return db.closeErr
}

// release closes the file. After a panic bbolt might wait for its own locks
// forever: then the mapping stays until the process ends, which is soon.
func (db *DB) release() error {
	if db.wedged.Load() {
		return errors.Join(unlock(db.file), db.file.Close())
	}
	return db.bolt.Close()
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

// view runs fn in a read transaction. What fn keeps must be copies. It returns
// when what was read is on the disk: bbolt shows a commit to readers a moment
// before its last sync, and a power cut in that moment would take back what
// somebody was told.
func (db *DB) view(ctx context.Context, fn func(*tx) error) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	var seen int64
	err := guard(func() error {
		return db.bolt.View(func(b *bbolt.Tx) error {
			seen = int64(b.ID())
			return fn(&tx{bolt: b})
		})
	})
	if seen > db.synced.Load() {
		if err := db.awaitCommit(); err != nil {
			return err
		}
	}
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	if db.noteDamage(err) {
		return db.fail(err)
	}
	return err
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

// noteDamage reports whether err tells of a panic, and remembers that there was
// one.
func (db *DB) noteDamage(err error) bool {
	var d *damageError
	if !errors.As(err, &d) {
		return false
	}
	db.wedged.Store(true)
	return true
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
