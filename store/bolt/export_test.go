package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt/page"
	"pushbox/store/storetest/conformance"
)

// OpenUnlocked opens a DB and unlocks it with the keys of tests. It waits for a lock as long as
// a test does, unless it is told otherwise.
func OpenUnlocked(ctx context.Context, o Options) (db *DB, created bool, err error) {
	if o.slack = env.Patience; o.Timeout == 0 {
		o.Timeout = env.Patience
	}
	db, created, err = Open(ctx, o)
	if err != nil {
		return nil, false, err
	}
	if err := db.Unlock(ctx, conformance.Keys{}, asIs{}, nil); err != nil {
		return nil, false, errors.Join(err, db.Close())
	}
	return db, created, nil
}

// CloseFile closes the file without bbolt's knowledge: every later commit fails.
func (db *DB) CloseFile() error { return db.current.Load().file.Close() }

func (db *DB) raw() *bbolt.DB { return db.current.Load().bolt }

// Raw runs fn in a bbolt transaction, without the DB's own rules.
func (db *DB) Raw(fn func(*bbolt.Tx) error) error { return db.raw().Update(fn) }

// TxID is the number of the last commit.
func (db *DB) TxID(t *testing.T) (id int) {
	t.Helper()
	err := db.raw().View(func(b *bbolt.Tx) error {
		id = b.ID()
		return nil
	})
	env.OK(t, err)
	return id
}

// RootPage is the root page of a bucket that is too large to be stored inline.
func (db *DB) RootPage(t *testing.T, bucket string) (page uint64) {
	t.Helper()
	err := db.raw().View(func(b *bbolt.Tx) error {
		page = uint64(b.Bucket([]byte(bucket)).RootPage())
		return nil
	})
	if err != nil || page == 0 {
		t.Fatalf("bucket %s has page %d: %v", bucket, page, err)
	}
	return page
}

// MidCommit puts the DB into the state between writing the header of its last commit
// and its sync. The returned function ends the commit, with success if its error is
// nil.
func (db *DB) MidCommit() (end func(error)) {
	db.writing.Lock()
	h := db.current.Load()
	last := h.synced.Swap(0)
	return func(err error) {
		if err != nil {
			_ = db.fail(err)
		} else {
			h.synced.Store(last)
		}
		db.writing.Unlock()
	}
}

// CompactOptions are the options of a compaction in a test.
type CompactOptions struct {
	Bounds   *Bounds // nil: the defaults
	Free     func(dir string) (int64, bool, error)
	Replace  func(temp, path string) (bool, error)
	Progress func(done, total int64)
}

// Bounds are the bounds of a compaction.
type Bounds struct {
	Batch, Rows                     int
	Unsynced, Pending, Behind, Rest int64
}

// TinyBounds make a compaction take many steps for a few rows.
func TinyBounds() *Bounds { return &Bounds{200, 3, 100, 1, 1 << 10, 1 << 10} }

// CompactWith compacts the DB.
func (db *DB) CompactWith(ctx context.Context, o CompactOptions) error {
	c := newCompaction(ctx, db, func(_, _ int64) {})
	o.apply(c)
	return db.compact(c)
}

// BackupWith makes a backup beside path and returns its path.
func (db *DB) BackupWith(ctx context.Context, path string, o CompactOptions) (string, error) {
	c := newBackup(ctx, db, path, func(_, _ int64) {})
	o.apply(c)
	err := db.copyTo(c)
	return c.temp, err
}

func (o CompactOptions) apply(c *compaction) {
	if b := o.Bounds; b != nil {
		c.bounds.batch, c.bounds.rows, c.bounds.unsynced = b.Batch, b.Rows, b.Unsynced
		c.bounds.pending, c.bounds.behind, c.bounds.rest = b.Pending, b.Behind, b.Rest
		c.bounds.hold = time.Millisecond
	}
	if o.Free != nil {
		c.free = o.Free
	}
	if o.Replace != nil {
		c.replace = o.Replace
	}
	if o.Progress != nil {
		c.report = o.Progress
	}
}

// CopyReserve is the space that must stay free beside a copy.
const CopyReserve = copyReserve

// MaxListed is how many free pages a commit lists at most.
const MaxListed = maxListedPages

// Listed reports whether the last commit wrote the list of free pages.
func (db *DB) Listed() bool {
	db.writing.Lock()
	defer db.writing.Unlock()
	return !db.current.Load().unlisted
}

// FreePages is the number of free pages of the file.
func (db *DB) FreePages() int {
	s := db.raw().Stats()
	return s.FreePageN + s.PendingPageN
}

// UsedPages is the number of pages in use.
func (db *DB) UsedPages(t *testing.T) int64 {
	t.Helper()
	return inUse(t, db) / int64(db.raw().Info().PageSize)
}

// Buckets are the names of the buckets.
func (*DB) Buckets() [][]byte { return bucketNames[:] }

// NoSync turns off bbolt's syncs until a compaction replaces the file.
func (db *DB) NoSync() { db.raw().NoSync = true }

// Recording reports whether the committer records what it writes.
func (db *DB) Recording() bool {
	db.writing.Lock()
	defer db.writing.Unlock()
	return db.changes != nil
}

// Look runs fn in a read transaction.
func (db *DB) Look(ctx context.Context, fn func(*bbolt.Tx) error) error {
	return db.view(ctx, func(t *tx) error { return fn(t.bolt) })
}

// Rows are all rows of the file, bucket by bucket, with the buckets' sequences.
func (db *DB) Rows(t *testing.T) map[string]string {
	t.Helper()
	rows := make(map[string]string)
	err := db.Look(context.Background(), func(b *bbolt.Tx) error {
		return b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			rows[string(name)] = strconv.FormatUint(bucket.Sequence(), 10)
			return bucket.ForEach(func(k, v []byte) error {
				rows[string(name)+"/"+string(k)] = string(v)
				return nil
			})
		})
	})
	env.OK(t, err)
	return rows
}

// FoldJournal folds all of the journal.
func (db *DB) FoldJournal(t *testing.T) {
	t.Helper()
	for done := false; !done; {
		err := db.do(t.Context(), 0, func(t *tx) error {
			j := t.journal
			j.bounds.gather = 1
			done = j.empty()
			return nil
		})
		env.OK(t, err)
	}
}

// JournalRows is how many rows are in the journal.
func (db *DB) JournalRows(t *testing.T) (n int) {
	t.Helper()
	err := db.Look(t.Context(), func(b *bbolt.Tx) error {
		n = b.Bucket(bucketNames[journalRows]).Stats().KeyN
		return nil
	})
	env.OK(t, err)
	return n
}

// TinyJournal makes every commit fold and remove the journal's rows, one at a time.
func (db *DB) TinyJournal(t *testing.T) {
	db.boundJournal(t, journalBounds{gather: 1, most: 8, fold: 1, cut: 1, idle: time.Millisecond, ends: time.Millisecond})
}

// KeepJournal keeps the journal from being folded until it holds most rows.
func (db *DB) KeepJournal(t *testing.T, most uint64) {
	db.boundJournal(t, journalBounds{gather: most + 1, most: most, fold: 2, cut: 3, ends: time.Hour})
}

func (db *DB) boundJournal(t *testing.T, b journalBounds) {
	t.Helper()
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error {
		t.journal.bounds = b
		return nil
	}))
}

// FoldNow folds all of the journal as it is usual, and tries again soon.
func (db *DB) FoldNow(t *testing.T) {
	b := usualJournal()
	b.idle = 10 * time.Millisecond
	db.writing.Lock()
	db.journal.endsDue = time.Now()
	db.writing.Unlock()
	db.boundJournal(t, b)
}

// BoundJournal makes the journal fold from gather rows on, and hold at most most.
func (db *DB) BoundJournal(t *testing.T, gather, most uint64) {
	db.boundJournal(t, journalBounds{gather: gather, most: most, fold: 1, cut: 1, idle: time.Hour, ends: time.Hour})
}

// StepJournal lets that many commits work on the journal, each on one row.
func (db *DB) StepJournal(t *testing.T, steps int) {
	t.Helper()
	db.boundJournal(t, journalBounds{gather: 1, most: 100, fold: 1, cut: 1, ends: time.Hour})
	for range steps {
		env.OK(t, db.do(t.Context(), 0, func(*tx) error { return nil }))
	}
	db.KeepJournal(t, 100)
}

// Portions returns how many pushes a commit with that many operations would fold, and how many rows of the
// journal it would remove once all are folded.
func (db *DB) Portions(operations int) (pushes, rows int) {
	db.writing.Lock()
	defer db.writing.Unlock()
	j := db.journal
	j.bounds.gather = 1
	pushes = len(j.nextWork(operations).folds)
	left := j.fold
	j.fold = nil
	rows = int(j.nextWork(operations).cuts - j.first)
	j.fold = left
	return pushes, rows
}

// KeepAll keeps the journal from being folded, in the usual portions.
func (db *DB) KeepAll(t *testing.T) {
	b := usualJournal()
	b.gather, b.most, b.idle, b.ends = 1<<20, 1<<20, time.Hour, time.Hour
	db.boundJournal(t, b)
}

// LeafPage is the page with a bucket's first rows, depth levels below its root.
func (db *DB) LeafPage(t *testing.T, name string, depth int) (id uint64) {
	t.Helper()
	err := db.raw().View(func(b *bbolt.Tx) error {
		const firstChild = 16 + 8 // in a branch
		id = uint64(b.Bucket([]byte(name)).RootPage())
		for range depth {
			id = binary.NativeEndian.Uint64(page.Mapping(b)[int(id)*b.DB().Info().PageSize+firstChild:])
		}
		return nil
	})
	env.OK(t, err)
	return id
}

// FoldEndsSoon has the journal folded for nothing but the end of a push.
func (db *DB) FoldEndsSoon(t *testing.T) {
	db.boundJournal(t, journalBounds{gather: 1 << 20, most: 1 << 20, fold: 1, cut: 1, idle: time.Hour, ends: time.Millisecond})
}

// EraseFree erases what is free and what no reader may still read.
func (db *DB) EraseFree(t *testing.T) {
	t.Helper()
	for range 2 { // the first may find what the second erases
		db.eraseOnce(time.Hour)
	}
}

func (db *DB) eraseOnce(reading time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	if h := db.enter(); h != nil {
		defer h.leave()
		db.eraseFree(timer, h, true, reading)
	}
}

// LeaveListOut makes a commit that writes no list of free pages.
func (db *DB) LeaveListOut(t *testing.T) {
	t.Helper()
	db.writing.Lock()
	defer db.writing.Unlock()
	raw := db.raw()
	raw.NoFreelistSync = true
	env.OK(t, raw.Update(func(b *bbolt.Tx) error { return b.Bucket(bucketNames[expiry]).SetSequence(9) }))
}

// KeepHoles makes the eraser overwrite long values, too.
func (db *DB) KeepHoles() {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.current.Load().eraser.keepHoles = true
}

// Journal returns the rows of the journal.
func (db *DB) Journal(t *testing.T) map[string]string {
	t.Helper()
	rows := make(map[string]string)
	err := db.view(t.Context(), func(t *tx) error {
		c := t.cursor(journalRows)
		for k, v := c.First(); k != nil; k, v = c.Next() {
			rows[string(k)] = string(v)
		}
		return nil
	})
	env.OK(t, err)
	return rows
}

// PutJournal writes rows of the journal as the committer does, which does not know of
// them.
func (db *DB) PutJournal(t *testing.T, rows map[string]string) {
	t.Helper()
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error {
		for k, v := range rows {
			if err := t.put(journalRows, []byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// DeleteJournal deletes a row of the journal.
func (db *DB) DeleteJournal(t *testing.T, key string) {
	t.Helper()
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error { return t.delete(journalRows, []byte(key)) }))
}
