package bolt

import (
	"context"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// CloseFile closes the file behind the back of bbolt: no commit goes well after.
func (db *DB) CloseFile() error { return db.current.Load().file.Close() }

func (db *DB) raw() *bbolt.DB { return db.current.Load().bolt }

// Raw runs fn in a bbolt transaction that no rule of the DB holds for.
func (db *DB) Raw(fn func(*bbolt.Tx) error) error { return db.raw().Update(fn) }

// TxID is the number of the last commit.
func (db *DB) TxID(t *testing.T) (id int) {
	t.Helper()
	err := db.raw().View(func(b *bbolt.Tx) error {
		id = b.ID()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// RootPage is the first page of a bucket that is too large to lie within another.
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

// MidCommit makes the DB look as between the header of its last commit and the
// sync of it. The function that it returns ends the commit with an error, or
// well if that is nil.
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

// A Trial is a compaction with other bounds, or on another system, than usual.
type Trial struct {
	Bounds   *Bounds // nil: as usual
	Free     func(dir string) (int64, bool, error)
	Replace  func(temp, path string) (bool, error)
	Progress func(done, total int64)
}

// Bounds are those of a compaction.
type Bounds struct {
	Batch, Rows                     int
	Unsynced, Pending, Behind, Rest int64
}

// TinyBounds make a compaction take many steps for a few rows.
func TinyBounds() *Bounds { return &Bounds{200, 3, 100, 1, 1 << 10, 1 << 10} }

// Try compacts the DB.
func (db *DB) Try(ctx context.Context, o Trial) error {
	c := newCompaction(ctx, db, func(_, _ int64) {})
	o.apply(c)
	return db.compact(c)
}

// TryBackup makes a backup beside path and returns where it is.
func (db *DB) TryBackup(ctx context.Context, path string, o Trial) (string, error) {
	c := newBackup(ctx, db, path, func(_, _ int64) {})
	o.apply(c)
	err := db.copyTo(c)
	return c.temp, err
}

func (o Trial) apply(c *compaction) {
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

// CopyReserve is what must stay free beside a copy.
const CopyReserve = copyReserve

// MaxListed is how many free pages a commit lists at most.
const MaxListed = maxListed

// Listed reports whether the last commit wrote the list of free pages.
func (db *DB) Listed() bool {
	db.writing.Lock()
	defer db.writing.Unlock()
	return !db.current.Load().unlisted
}

// FreePages is how many pages of the file nothing is in.
func (db *DB) FreePages() int {
	s := db.raw().Stats()
	return s.FreePageN + s.PendingPageN
}

// UsedPages is how many pages of the file something is in.
func (db *DB) UsedPages(t *testing.T) int64 {
	t.Helper()
	return inUse(t, db) / int64(db.raw().Info().PageSize)
}

// Buckets are the names of the buckets.
func (*DB) Buckets() [][]byte { return bucketNames[:] }

// NoSync has bbolt leave out its syncs until a compaction replaces the file.
func (db *DB) NoSync() { db.raw().NoSync = true }

// Recording reports whether the committer takes note of what it writes.
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
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// FoldJournal has all that is in the journal put where it belongs.
func (db *DB) FoldJournal(t *testing.T) {
	t.Helper()
	for done := false; !done; {
		err := db.do(t.Context(), 0, func(t *tx) error {
			j := t.journal
			j.bounds.gather = 1
			done = j.empty()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// JournalRows is how many rows are in the journal.
func (db *DB) JournalRows(t *testing.T) (n int) {
	t.Helper()
	err := db.Look(t.Context(), func(b *bbolt.Tx) error {
		n = b.Bucket(bucketNames[journalRows]).Stats().KeyN
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TinyJournal has the journal folded and cut off at every opportunity, a row at a
// time.
func (db *DB) TinyJournal(t *testing.T) {
	db.boundJournal(t, journalBounds{gather: 1, most: 8, fold: 1, cut: 1, lull: time.Millisecond})
}

// KeepJournal has nothing of the journal folded, until it holds that many rows.
func (db *DB) KeepJournal(t *testing.T, most uint64) {
	db.boundJournal(t, journalBounds{gather: most + 1, most: most, fold: 2, cut: 3})
}

func (db *DB) boundJournal(t *testing.T, b journalBounds) {
	t.Helper()
	if err := db.do(t.Context(), 0, func(t *tx) error {
		t.journal.bounds = b
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// BoundJournal has the journal folded from so many rows on, and hold so many at most.
func (db *DB) BoundJournal(t *testing.T, gather, most uint64) {
	db.boundJournal(t, journalBounds{gather: gather, most: most, fold: 1, cut: 1, lull: time.Hour})
}

// StepJournal has so many commits work on the journal, each on one row.
func (db *DB) StepJournal(t *testing.T, steps int) {
	t.Helper()
	db.boundJournal(t, journalBounds{gather: 1, most: 100, fold: 1, cut: 1})
	for range steps {
		if err := db.do(t.Context(), 0, func(*tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	db.KeepJournal(t, 100)
}

// LeafPage is the page of a bucket on which its first rows are.
func (db *DB) LeafPage(t *testing.T, name string, depth int) (id uint64) {
	t.Helper()
	err := db.raw().View(func(b *bbolt.Tx) error {
		s := pagesOf(b, uint64(b.Size())/uint64(b.DB().Info().PageSize))
		id = uint64(b.Bucket([]byte(name)).RootPage())
		for range depth {
			p, err := s.at(id)
			if err != nil {
				return err
			}
			if _, _, id, _, err = p.row(0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// SetCensusStep sets how many rows are counted at a time.
func (db *DB) SetCensusStep(n int) { db.census.step = n }
