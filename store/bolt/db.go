package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

// A DB is a record.Engine in one bbolt file. Its methods may be called at the
// same time.
type DB struct {
	path    string // of the file, links followed
	current atomic.Pointer[handle]
	keys    atomic.Pointer[record.RowKeys] // nil until Unlock
	found   uint32                         // the schema of the file when it was opened
	note    func(say string)               // never nil
	limits  atomic.Pointer[limits]
	tallies *limit.Tallies // in memory: one server has the file

	queue       chan *op
	bulk        chan *op    // operations that write much data
	ops         sync.Pool   // of *op, for their channels
	batch       []*op       // the committer's
	idleTimer   *time.Timer // of the committer: how long to wait for an operation
	onlyBulk    int         // consecutive commits with bulk operations only; used by the committer alone
	tx          tx          // the committer's
	writing     sync.Mutex  // held while a batch runs: no page changes without it, nor the handle
	journal     *journal
	mappingUsed bool                // there was a commit since the mapping was released. Guarded by writing
	observe     func(record.Commit) // never nil
	changes     *changes            // rows that a compaction must copy again; nil: no compaction runs. Guarded by writing

	compacting chan struct{}  // holds a value while a compaction runs, and after Close
	replaced   sync.WaitGroup // goroutines that close replaced handles

	unlocking sync.Mutex  // held by Unlock, and by Close before it waits
	unlocked  atomic.Bool // Unlock is done, and the committer began

	freed   chan struct{} // receives a value if there is something to erase
	noErase bool
	slack   time.Duration

	closing   chan struct{} // closed by Close
	stopped   chan struct{} // closed when the committer has ended
	erased    chan struct{} // closed when the eraser has ended
	failed    chan struct{} // closed when failure is set
	failOnce  sync.Once
	failure   error // wraps record.ErrFailed
	closeOnce sync.Once
	closeErr  error
}

var (
	_ record.Engine     = (*DB)(nil)
	_ record.DumpEngine = (*DB)(nil)
	_ record.FileUpkeep = (*DB)(nil)
)

// Failed returns a channel that is closed when the outcome of a commit is unknown:
// every method returns record.ErrFailed from then on.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Close ends a compaction or an upgrade, waits for the batch and the readers that run,
// refuses other operations with record.ErrClosed, erases what was deleted, and closes the
// file. Later calls return the same error.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		close(db.closing)
		db.unlocking.Lock() // from here on no committer can start
		if !db.unlocked.Load() {
			close(db.stopped)
			close(db.erased)
		}
		db.unlocking.Unlock()
		<-db.stopped
		<-db.erased
		h := db.current.Load()
		select {
		case db.compacting <- struct{}{}:
			db.closeErr = db.finish()
		case <-h.damaged: // the compaction may wait forever for a lock that bbolt still holds
		}
		db.closeErr = errors.Join(db.closeErr, db.current.Load().closeAfter(db.eraseRest))
		db.replaced.Wait()
	})
	return db.closeErr
}

// finish writes the list of free pages, so that the next start need not look for them.
// After a failure it does not, since it is unknown what the file holds.
func (db *DB) finish() error {
	select {
	case <-db.failed:
		return nil
	default:
		return db.current.Load().writeFreeList()
	}
}

// eraseRest erases free pages before the file is closed. It skips a file that was never unlocked,
// and a DB that has failed, since then a page that seems free may be in use.
func (db *DB) eraseRest(h *handle) error {
	select {
	case <-db.failed:
		return nil
	default:
	}
	if db.noErase || !db.unlocked.Load() {
		return nil
	}
	if err := h.eraseRest(restWindow + db.slack); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}

// admit returns an error if an operation must not begin.
func (db *DB) admit(ctx context.Context) error {
	if err := db.alive(ctx); err != nil {
		return err
	}
	if !db.unlocked.Load() {
		return record.ErrNoKeys
	}
	return nil
}

// alive returns an error if not even Unlock may begin or continue.
func (db *DB) alive(ctx context.Context) error {
	if err := db.refusal(); err != nil {
		return err
	}
	return ctx.Err()
}

// refusal returns the error for all operations; nil while the DB works.
func (db *DB) refusal() error {
	select {
	case <-db.failed:
		return db.failure
	default:
	}
	select {
	case <-db.closing:
		return record.ErrClosed
	default:
		return nil
	}
}

// fail makes the DB refuse everything from now on, and returns the error for that.
func (db *DB) fail(cause error) error {
	db.failOnce.Do(func() {
		db.failure = fmt.Errorf("%w: %w", record.ErrFailed, cause)
		close(db.failed)
	})
	return db.failure
}

// maxTries is how often a reader begins again because a commit changed what it reads.
const maxTries = 8

// view runs fn in a read transaction, sometimes several times. fn must copy what it keeps. view
// returns once the data that fn read is on the disk: bbolt shows a commit to readers just before
// its last sync, and a power cut at that moment would undo what the caller was told.
func (db *DB) view(ctx context.Context, fn func(*tx) error) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	return db.viewAdmitted(fn)
}

func (db *DB) viewAdmitted(fn func(*tx) error) error {
	for range maxTries {
		if err := db.viewOnce(fn, db.awaitCommit); !errors.Is(err, errStale) {
			return err
		}
	}
	db.writing.Lock() // no commit can run in between now
	defer db.writing.Unlock()
	if err := db.refusal(); err != nil {
		return err
	}
	return db.viewOnce(fn, func() error { return nil }) // all commits are synced
}

// viewed is view for an fn that returns a value.
func viewed[T any](ctx context.Context, db *DB, fn func(*tx) (T, error)) (v T, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		v, err = fn(t)
		return err
	})
	return v, err
}

// changed is do for an operation that returns a value, which is zero after an error.
func changed[T any](ctx context.Context, db *DB, fn func(*tx) (T, error)) (v T, err error) {
	err = db.do(ctx, 0, func(t *tx) (err error) {
		v, err = fn(t)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return v, nil
}

// viewOnce is one try of a view. If it sees a commit that may not be on the disk yet,
// it waits until that is.
func (db *DB) viewOnce(fn func(*tx) error, await func() error) error {
	over := db.journal.overlay() // before the transaction begins, so that the transaction sees rows that are folded meanwhile
	h := db.enter()
	if h == nil {
		return record.ErrClosed
	}
	defer h.leave()
	var seen int64
	err := h.read(func(t *tx) error {
		seen, t.overlay = int64(t.bolt.ID()), over
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

// enter returns the current handle, entered; nil when the DB is closing. If a
// compaction replaces the handle meanwhile, it enters the new one.
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

// awaitCommit waits for the commit that runs, if one does, and returns an error if the
// DB has failed.
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
	return fmt.Sprintf("%v: %v", record.ErrCorrupt, e.reason)
}

// Unwrap returns record.ErrCorrupt.
func (*damageError) Unwrap() error { return record.ErrCorrupt }

// guard runs fn and turns a panic into a *damageError: bbolt panics on a malformed page, and a page
// beyond the end of the file causes a fault. A panic over an unreadable row becomes the error of
// that row.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = &damageError{reason}
			if row, ok := reason.(unreadable); ok {
				err = row.err
			}
		}
	}()
	return fn()
}
