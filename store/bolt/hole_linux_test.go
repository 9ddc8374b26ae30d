package bolt_test

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// allocated is how many bytes of its file system a file takes.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var s unix.Stat_t
	env.OK(t, unix.Stat(path, &s))
	return s.Blocks * 512
}

// freeIn is how many bytes are free on the file system of dir.
func freeIn(t *testing.T, dir string) int64 {
	t.Helper()
	var s unix.Statfs_t
	env.OK(t, unix.Statfs(dir, &s))
	return int64(s.Bavail) * s.Bsize
}

// The blocks of long values are given back to the file system. What the file lost does
// not count as its own space beside what the file system then has free.
func TestHolesDoNotCountTwiceAsSpace(t *testing.T) {
	t.Parallel()
	const size, pushes = 1 << 19, 80
	dir := mount(t, "size=64m")
	path := filepath.Join(dir, "pushbox.db")
	db := open(t, bolt.Options{Path: path, NoErase: true}) // but when the test says so
	for n := range pushes {
		payloadPush(t, db, n, size)
	}
	for n := range pushes {
		mustPurge(t, db, n)
	}
	db.FoldJournal(t)
	blocks, free := allocated(t, path), freeIn(t, dir)
	db.EraseFree(t)
	gained := freeIn(t, dir) - free
	// A commit takes single pages from where many are free, at random. What is left of a value
	// without its first page is no longer known to be one, and is overwritten: so a value is lost
	// for each page that the few commits since took.
	if punched := blocks - allocated(t, path); punched < pushes/2*size || gained < pushes/2*size {
		t.Fatalf("%d bytes were punched, %d more are free on the file system", punched, gained)
	}
	// As much may be created as the file system has free beside what must stay free, and
	// a little that the file has left.
	db.SetSpaceLimits(record.SpaceLimits{MinFree: freeIn(t, dir) - 4*size})
	left := int(4 + (allocated(t, path)-db.UsedPages(t)*pageSize)/size)
	made := 0
	for ; made < pushes; made++ {
		if err := conformance.Made(db.CreatePush(t.Context(), newPush(100+made), make([]byte, size), record.Entry{Kind: record.EntryCreation})); errors.Is(err, record.ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if made < left-2 || made > left {
		t.Errorf("%d pushes were created where there was space for %d", made, left)
	}
	closeDB(t, db)
}

// Where the file system takes no blocks back, long values are overwritten like others.
func TestLongValuesAreOverwrittenWhereThereAreNoHoles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	db.KeepHoles()
	markedPush(t, db, 1, 1<<20)
	before := allocated(t, path)
	mustPurge(t, db, 1)
	db.EraseFree(t)
	if n := markers(t, path); n > 0 {
		t.Errorf("the marker is there %d times", n)
	}
	if after := allocated(t, path); after < before {
		t.Errorf("the file took %d bytes, and then %d", before, after)
	}
}
