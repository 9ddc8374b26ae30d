package page

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

var rows = []byte("rows")

func rowKey(i int) []byte { return fmt.Appendf(nil, "row number %06d", i) }

// treeFile writes a file whose bucket has a branch above many leaves, and returns its
// path and where that branch begins.
func treeFile(t *testing.T, count int) (path string, branch int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pushbox.db")
	db, err := bbolt.Open(path, 0o600, nil)
	env.OK(t, err)
	err = db.Update(func(b *bbolt.Tx) error {
		bucket, err := b.CreateBucket(rows)
		for i := range count {
			if err == nil {
				err = bucket.Put(rowKey(i), make([]byte, 50))
			}
		}
		return err
	})
	if err == nil {
		err = db.View(func(b *bbolt.Tx) error {
			branch = int64(b.Bucket(rows).RootPage()) * int64(db.Info().PageSize)
			return nil
		})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path, branch
}

// spoil changes bytes of a file.
func spoil(t *testing.T, path string, at int64, change func(b []byte)) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	env.OK(t, err)
	b := make([]byte, elementLen)
	_, err = f.ReadAt(b, at)
	if err == nil {
		change(b)
		_, err = f.WriteAt(b, at)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// verifyAll verifies a file, and then the leaf of each row as before a write. It
// returns the first error of either.
func verifyAll(t *testing.T, path string, count int, leaves bool) (opening, writing error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	env.OK(t, err)
	defer db.Close()
	_ = db.View(func(b *bbolt.Tx) error {
		var s Set
		if s, opening = Verify(b, leaves); opening != nil {
			return nil
		}
		var last Leaves
		for i := 0; i < count && writing == nil; i++ {
			writing = s.VerifyLeaf(b.Bucket(rows), rowKey(i), i%2 == 0, &last)
		}
		return nil
	})
	return opening, writing
}

// bbolt finds the row that leads to a page by the first key of that page. Where the two
// differ, a write would leave a row that leads to a free page: once that page is the
// branch itself, a walk never ends.
func TestAPageBeginsWithTheKeyThatLeadsToIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows          int
		row           int64 // of the branch; -1: none
		change        func(b []byte)
		opens, writes bool
	}{
		"two levels":                     {rows: 500, row: -1, opens: true, writes: true},
		"three levels":                   {rows: 20_000, row: -1, opens: true, writes: true},
		"a shorter key to a leaf":        {500, 3, func(b []byte) { b[4]-- }, true, false},
		"a shorter key to a branch":      {20_000, 1, func(b []byte) { b[4]-- }, false, false},
		"a key that begins later":        {500, 3, func(b []byte) { b[0]++; b[4]-- }, false, false},
		"a shorter key to the last leaf": {500, 9, func(b []byte) { b[4] -= 2 }, true, false},
	} {
		path, branch := treeFile(t, c.rows)
		if c.row >= 0 {
			spoil(t, path, branch+pageHead+c.row*elementLen, c.change)
		}
		opening, writing := verifyAll(t, path, c.rows, false)
		if (opening == nil) != c.opens || opening != nil && !errors.Is(opening, record.ErrCorrupt) {
			t.Errorf("%s: opening: %v", name, opening)
		}
		if opening == nil && ((writing == nil) != c.writes || writing != nil && !errors.Is(writing, record.ErrCorrupt)) {
			t.Errorf("%s: writing: %v", name, writing)
		}
		if whole, _ := verifyAll(t, path, 0, true); (whole == nil) != (c.opens && c.writes) {
			t.Errorf("%s: checking: %v", name, whole)
		}
	}
}

// An empty leaf is what a new bucket has, and nothing else.
func TestALeafBelowABranchHasRows(t *testing.T) {
	t.Parallel()
	path, branch := treeFile(t, 500)
	var leaf int64
	spoil(t, path, branch+pageHead+3*elementLen, func(b []byte) {
		leaf = int64(binary.NativeEndian.Uint64(b[8:])) * int64(os.Getpagesize())
	})
	spoil(t, path, leaf, func(b []byte) { binary.NativeEndian.PutUint16(b[10:], 0) })
	if _, writing := verifyAll(t, path, 500, false); !errors.Is(writing, record.ErrCorrupt) {
		t.Errorf("an empty leaf: %v", writing)
	}
}

// A leaf that was joined has other siblings than before, and bbolt may join it with those next:
// they are verified, too, also where rows of one leaf are deleted one transaction after the other.
func TestALeafThatWasJoinedHasOtherSiblings(t *testing.T) {
	t.Parallel()
	path, branch := filepath.Join(t.TempDir(), "pushbox.db"), int64(0)
	var sizes []int // of rows in three leaves: one is damaged, one is short, and the rows of one go
	for _, leaf := range [...][]int{{216, 216, 216, 216, 216, 216, 216, 216}, {50, 50}, {1900, 1900, 100, 100}} {
		sizes = append(sizes, leaf...)
	}
	const gone = 10 // the first row that goes
	inFile(t, path, func(db *bbolt.DB) error {
		err := db.Update(func(b *bbolt.Tx) error {
			bucket, err := b.CreateBucket(rows)
			for i, size := range sizes {
				err = errors.Join(err, bucket.Put(rowKey(i), make([]byte, size)))
			}
			return err
		})
		return errors.Join(err, db.View(func(b *bbolt.Tx) error {
			branch = int64(b.Bucket(rows).RootPage()) * int64(db.Info().PageSize)
			return nil
		}))
	})
	var damaged int64
	spoil(t, path, branch+pageHead, func(b []byte) {
		damaged = int64(binary.NativeEndian.Uint64(b[8:])) * int64(os.Getpagesize())
	})
	spoil(t, path, damaged, func(b []byte) { b[14] = 1 }) // it has 65,536 pages, and all of them would be freed
	inFile(t, path, func(db *bbolt.DB) error {
		var s Set
		var last Leaves
		err := db.View(func(b *bbolt.Tx) (err error) {
			s, err = Verify(b, false)
			return err
		})
		for i := gone; i < len(sizes) && err == nil; i++ {
			err = db.Update(func(b *bbolt.Tx) error {
				bucket := b.Bucket(rows)
				if err := s.VerifyLeaf(bucket, rowKey(i), true, &last); err != nil {
					return fmt.Errorf("row %d: %w", i, err)
				}
				return bucket.Delete(rowKey(i))
			})
		}
		if want := fmt.Sprintf("row %d", len(sizes)-2); !errors.Is(err, record.ErrCorrupt) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("it is %v; from %s on, the leaf is beside a damaged one", err, want)
		}
		return nil
	})
}

// inFile works on a file with bbolt.
func inFile(t *testing.T, path string, work func(*bbolt.DB) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(work(db), db.Close())
	}
	env.OK(t, err)
}
