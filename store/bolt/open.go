package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/internal/durable"
	"pushbox/store"
)

// defaultTimeout is how long Open waits for another process to let go of the file.
const defaultTimeout = time.Second

// Options say which file to open and how much may go into it.
type Options struct {
	Path    string        // the file; its directory must exist
	MaxSize int64         // bytes in use above which creates are refused; 0: no limit
	MinFree int64         // bytes free on the file system below which creates are refused; 0: no limit
	Timeout time.Duration // how long to wait for another process to let go of the file; 0: a second

	Note func(say string) // is told that a file of an older schema is brought to the present one; nil: nobody is
	// Committed is called after each commit with the operations that it was for and
	// the time that it took; it must be quick. nil: nobody asks.
	Committed func(operations int, took time.Duration)
}

// Open opens the file, or creates it where there is none, and says which. A new
// file has mode 0600, is complete under its name or not there, and opening a
// file changes none of its bytes, unless an older version of pushbox wrote it:
// then it is brought to the present schema in one transaction, after a copy of it
// as it was has been kept beside it.
//
// The error wraps store.ErrInUse if another process holds the file,
// store.ErrCorrupt if it is not a whole database, store.ErrSchema if a later or a
// much older version of pushbox wrote it, store.ErrFull if there is no room for the
// copy. After an error the file is as it was.
func Open(ctx context.Context, o Options) (db *DB, created bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		if created, err = create(o.Path); err != nil {
			return nil, false, fmt.Errorf("create the database %s: %w", o.Path, err)
		}
	}
	if db, err = open(o); err != nil {
		return nil, false, err
	}
	if err := db.settleNames(); err != nil {
		return nil, false, errors.Join(err, db.current.Load().close())
	}
	db.start()
	return db, created, nil
}

// settleNames removes what was left beside the file, and makes its name last:
// whoever gave it that, by creating or compacting, may have been cut short before.
func (db *DB) settleNames() error {
	if err := durable.RemoveLeftovers(db.path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(db.path))
}

// open opens a file that exists and looks at its schema.
func open(o Options) (*DB, error) {
	path, err := filepath.EvalSymlinks(o.Path) // a compaction replaces the file, not a link to it
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", o.Path, err)
	}
	db := &DB{path: path, journal: newJournal(), observe: o.Committed, census: census{step: censusStep}}
	if db.observe == nil {
		db.observe = func(int, time.Duration) {}
	}
	db.limits.Store(&limits{dir: filepath.Dir(path), maxSize: o.MaxSize, minFree: o.MinFree})
	h, err := openNamed(path, o.Timeout)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", o.Path, store.ErrInUse)
	case errors.Is(err, store.ErrCorrupt):
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	case err != nil:
		return nil, fmt.Errorf("open the database %s: %w", o.Path, err)
	}
	if err := db.prepare(h, o.Note); err != nil {
		h.noteDamage(err)
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Path, err), h.close())
	}
	db.current.Store(h)
	return db, nil
}

// prepare looks at a file that was opened, and brings it to the present schema.
func (db *DB) prepare(h *handle, note func(string)) error {
	var found uint32
	err := h.read(func(t *tx) (err error) {
		h.synced.Store(int64(t.bolt.ID()))
		if h.looked, err = lookAtTrees(t.bolt, false); err != nil {
			return err
		}
		t.dropMapped() // where free pages had to be looked for, that is all of the file
		found, err = readSchema(t.bolt)
		return err
	})
	if err == nil && found != schemaNumber {
		err = newUpgrade(db, h, found, note).run()
	}
	if err != nil {
		return err
	}
	return h.read(func(t *tx) error {
		if err := wantBuckets(t.bolt); err != nil {
			return err
		}
		return db.journal.load(t)
	})
}

// wantBuckets refuses a file that lacks a bucket of the present schema.
func wantBuckets(b *bbolt.Tx) error {
	for _, name := range bucketNames {
		if b.Bucket(name) == nil {
			return fmt.Errorf("%w: bucket %s is missing", store.ErrCorrupt, name)
		}
	}
	return nil
}

func (db *DB) start() {
	db.queue = make(chan *op, queueLen)
	db.bulk = make(chan *op)
	db.ops.New = func() any { return &op{done: make(chan struct{}, 1)} }
	db.lull = time.NewTimer(0)
	db.compacting = make(chan struct{}, 1)
	db.closing = make(chan struct{})
	db.stopped = make(chan struct{})
	db.failed = make(chan struct{})
	go db.commitLoop()
}
