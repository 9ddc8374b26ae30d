package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"

	berrors "go.etcd.io/bbolt/errors"

	"pushbox/internal/durable"
	"pushbox/internal/limit"
	"pushbox/store/bolt/page"
	"pushbox/store/record"
)

// defaultTimeout is how long Open waits for another process to close the file.
const defaultTimeout = time.Second

const defaultClients = 65536

// Options say which file to open and how large it may become.
type Options struct {
	Path    string // the file; its directory must exist
	MaxSize int64  // bytes in use above which creates are refused; 0: no limit
	MinFree int64  // bytes free on the file system below which creates are refused; 0: no limit
	Room    record.RoomLimits
	Clients int           // how many clients and pushes are remembered in memory for each kind of tries; 0: 65,536
	Timeout time.Duration // how long to wait for another process to close the file; 0: a second

	Note func(say string) // Unlock calls it with a sentence when it upgrades a file of an older schema; may be nil
	// Committed is called after each commit. It must be quick, and may be nil.
	Committed func(record.Commit)

	NoErase bool          // keep deleted data in free pages, so that a test can look for it
	slack   time.Duration // added to the longest waits of closing and copying, for tests
}

// Open opens the file, or creates it if there is none, and reports whether it did. A new file has
// mode 0600 and appears under its name only when it is complete. Opening a file changes none of its
// bytes. Before Unlock, a DB returns only its key ring.
//
// The error wraps record.ErrInUse if another process holds the file, record.ErrCorrupt if
// it is not a whole database, record.ErrSchema if a later or a much older version of
// pushbox wrote it. After an error the file is as it was.
func Open(ctx context.Context, o Options) (db *DB, created bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Clients <= 0 {
		o.Clients = defaultClients
	}
	if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		if created, err = create(o.Path); err != nil {
			return nil, false, fmt.Errorf("create the database %s: %w", o.Path, err)
		}
	}
	if db, err = open(o); err != nil {
		return nil, false, err
	}
	if err := db.finishNames(); err != nil {
		return nil, false, errors.Join(err, db.current.Load().close())
	}
	db.start()
	return db, created, nil
}

// finishNames removes files that were left beside the database, and makes its name
// durable: the process that created or compacted it may have ended before it did so.
func (db *DB) finishNames() error {
	if err := durable.RemoveLeftovers(db.path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(db.path))
}

// open opens a file that exists and checks its schema.
func open(o Options) (*DB, error) {
	path, err := filepath.EvalSymlinks(o.Path) // a compaction replaces the file, not a link to it
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", o.Path, err)
	}
	db := &DB{path: path, tallies: limit.NewTallies(o.Clients), journal: newJournal(), note: o.Note, observe: o.Committed, noErase: o.NoErase, slack: o.slack}
	if db.note == nil {
		db.note = func(string) {}
	}
	if db.observe == nil {
		db.observe = func(record.Commit) {}
	}
	db.limits.Store(&limits{dir: filepath.Dir(path), maxSize: o.MaxSize, minFree: o.MinFree, room: o.Room})
	h, err := openNamed(path, o.Timeout)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", o.Path, record.ErrInUse)
	case errors.Is(err, record.ErrCorrupt):
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	case err != nil:
		return nil, fmt.Errorf("open the database %s: %w", o.Path, err)
	}
	if err := db.prepare(h); err != nil {
		h.noteDamage(err)
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Path, err), h.close())
	}
	h.keys = &db.keys
	db.current.Store(h)
	return db, nil
}

// prepare verifies a file that was opened.
func (db *DB) prepare(h *handle) error {
	return h.read(func(t *tx) (err error) {
		h.synced.Store(int64(t.bolt.ID()))
		if h.verified, err = page.Verify(t.bolt, false); err != nil {
			return err
		}
		t.dropMapped() // the whole file, if bbolt had to look for free pages
		db.found, err = readSchema(t.bolt)
		if err != nil {
			return err
		}
		return wantBuckets(t.bolt, db.found)
	})
}

func (db *DB) start() {
	db.queue = make(chan *op, queueLen)
	db.bulk = make(chan *op)
	db.ops.New = func() any { return &op{done: make(chan struct{}, 1)} }
	db.idleTimer = time.NewTimer(0)
	db.compacting = make(chan struct{}, 1)
	db.closing = make(chan struct{})
	db.stopped = make(chan struct{})
	db.failed = make(chan struct{})
	db.freed, db.erased = make(chan struct{}, 1), make(chan struct{})
}

// openNamed opens and locks the file of that name. While it waits for the lock of
// another process, a compaction of that process may give the name to another file; then
// it tries that one.
func openNamed(path string, timeout time.Duration) (*handle, error) {
	deadline := time.Now().Add(timeout)
	for {
		before, _ := os.Stat(path)
		h, err := openVerified(path, max(time.Until(deadline), 1)) // bbolt takes none for forever
		if err == nil {
			named, err := h.isNamed(path)
			if err == nil && named {
				return h, nil
			}
			if err := errors.Join(err, h.close()); err != nil {
				return nil, err
			}
		} else if there, statErr := os.Stat(path); before == nil || statErr != nil || os.SameFile(before, there) {
			return nil, err
		} // else it was replaced, and has been overwritten
		if time.Until(deadline) <= 0 {
			return nil, berrors.ErrTimeout
		}
	}
}

// openVerified opens and locks a file on which bbolt does not crash.
func openVerified(path string, timeout time.Duration) (*handle, error) {
	if err := verifyUnlisted(path, timeout); err != nil {
		return nil, err
	}
	return openHandle(path, bbolt.Options{Timeout: timeout}, examine)
}

// isNamed reports whether path names this file.
func (h *handle) isNamed(path string) (bool, error) {
	there, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	ours, err := h.file.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(there, ours), nil
}

// examine checks a file before bbolt opens it: bbolt crashes on some files.
func examine(f *os.File) error {
	if err := page.CheckHeader(f); err != nil {
		return err
	}
	return f.Sync() // sync what a killed process left in the cache, before readers see it
}

// verifyUnlisted verifies all pages of a file without a list of free pages. bbolt reads all of them
// to find the free ones, but in its own goroutine, where a damaged page would end the process.
func verifyUnlisted(path string, timeout time.Duration) error {
	if unlisted, err := lacksFreeList(path); err != nil || !unlisted {
		return err
	}
	return readAlone(path, timeout, true, func(*tx) error { return nil })
}

func lacksFreeList(path string) (bool, error) {
	f, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	listed, err := page.HasFreeList(f)
	return err == nil && !listed, errors.Join(err, f.Close())
}

// initialMap is how much address space to map at once: remapping waits for every
// reader. It costs no memory and, except on Windows, no disk.
func initialMap() int {
	switch {
	case runtime.GOOS == "windows":
		return 0
	case math.MaxInt == math.MaxInt32:
		return 64 << 20
	default:
		return 1 << 30
	}
}

// errUnlocked is the error of a caller that unlocks twice.
var errUnlocked = errors.New("the database was unlocked before")

// Unlock gives the DB the keys of its rows, once, and begins its work. If an older version of
// pushbox wrote the file, Unlock uses c to rewrite it in the present schema, and keeps the old one
// beside it; without c it refuses such a file. At any moment the name refers to a complete file of
// one of the two schemas.
//
// The error wraps record.ErrCorrupt if the keys do not match the rows, or the rows cannot be
// converted; record.ErrFull if there is no space for the new file. After an error nothing has
// changed, unless the DB has failed, and Unlock may be called again.
func (db *DB) Unlock(ctx context.Context, keys record.RowKeys, c record.Converter, _ record.Follower) error {
	db.unlocking.Lock()
	defer db.unlocking.Unlock()
	if err := db.alive(ctx); err != nil {
		return err
	}
	if db.unlocked.Load() {
		return errUnlocked
	}
	db.keys.Store(&keys)
	if err := db.load(ctx, c); err != nil {
		db.keys.Store(nil)
		return fmt.Errorf("%s: %w", db.path, err)
	}
	go db.commitLoop()
	db.unlocked.Store(true)
	if db.noErase {
		close(db.erased)
	} else {
		go db.eraseLoop()
	}
	return nil
}

// load upgrades the file to the present schema, and reads the journal.
func (db *DB) load(ctx context.Context, c record.Converter) error {
	if found := db.found; found != schemaNumber {
		if c == nil && found < taggedSchema {
			return fmt.Errorf("%w: it claims to have schema %d, but its key ring is from another schema", record.ErrCorrupt, found)
		}
		if err := newUpgrade(ctx, db, c).run(); err != nil {
			return fmt.Errorf("upgrade from schema %d to %d: %w", found, schemaNumber, err)
		}
	}
	h := db.current.Load()
	err := h.read(db.journal.load)
	if h.noteDamage(err) {
		return db.fail(err)
	}
	return err
}
