package bolt

import (
	"testing"

	"go.etcd.io/bbolt"
)

// CloseFile closes the file behind the back of bbolt: no commit goes well after.
func (db *DB) CloseFile() error { return db.file.Close() }

// Raw runs fn in a bbolt transaction that no rule of the DB holds for.
func (db *DB) Raw(fn func(*bbolt.Tx) error) error { return db.bolt.Update(fn) }

// TxID is the number of the last commit.
func (db *DB) TxID(t *testing.T) (id int) {
	t.Helper()
	err := db.bolt.View(func(b *bbolt.Tx) error {
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
	err := db.bolt.View(func(b *bbolt.Tx) error {
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
	last := db.synced.Swap(0)
	return func(err error) {
		if err != nil {
			_ = db.fail(err)
		} else {
			db.synced.Store(last)
		}
		db.writing.Unlock()
	}
}
