package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/bolt/page"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// marker is in the payload of each markedPush.
var marker = []byte("this is in a payload that was deleted")

func markedPush(t *testing.T, db *bolt.DB, n, size int) {
	t.Helper()
	payload := bytes.Repeat(marker, size/len(marker)+1)
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), newPush(n), payload, record.Entry{Kind: record.EntryCreation})))
}

func mustPurge(t *testing.T, db *bolt.DB, n int) {
	t.Helper()
	if _, err := db.Change(t.Context(), id(n), purge); err != nil {
		t.Fatal(err)
	}
}

// markers is how often the marker is in a file.
func markers(t *testing.T, path string) int {
	t.Helper()
	return bytes.Count(env.Read(t, path), marker)
}

// wantErased verifies that each page of a file that is not in use holds zeros alone, or
// a list of free pages. The file is a copy, or is closed.
func wantErased(t *testing.T, path string) {
	t.Helper()
	b := env.Read(t, path)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	env.OK(t, err)
	err = db.View(func(tx *bbolt.Tx) error {
		_, older, err := page.FreeLists(bytes.NewReader(b))
		if err != nil {
			return err
		}
		for id := range len(b) / int(pageSize) {
			if older.Has(uint64(id)) {
				continue
			}
			info, err := tx.Page(id)
			if err != nil {
				return err
			}
			if held := b[id*int(pageSize) : (id+1)*int(pageSize)]; (info == nil || info.Type == "free") && !isZero(held) {
				t.Errorf("page %d of %d is free and begins %x", id, len(b)/int(pageSize), held[:32])
			}
		}
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// A kill leaves what was deleted, and what a commit wrote that was cut short: also
// behind the last page in use.
func TestTheNextStartErasesWhatAKillLeft(t *testing.T) {
	t.Parallel()
	for name, listed := range map[string]bool{"with a list of free pages": true, "without one": false} {
		path := newPath(t)
		db := open(t, bolt.Options{Path: path, NoErase: true})
		markedPush(t, db, 1, 50_000)
		mustCreate(t, db, 2)
		mustPurge(t, db, 1)
		if !listed {
			db.LeaveListOut(t)
		}
		copied := asKilled(t, path)
		b := env.Read(t, copied)
		write(t, copied, append(b, bytes.Repeat(marker, 1000)...))
		if markers(t, copied) < 2000 || isListed(t, copied) != listed {
			t.Fatalf("%s: the copy is not as a kill leaves it", name)
		}
		again := open(t, bolt.Options{Path: copied})
		again.EraseFree(t)
		if n := markers(t, copied); n != 0 {
			t.Errorf("%s: the marker is there %d times", name, n)
		}
		if !has(t, again, 2) {
			t.Errorf("%s: a push is lost", name)
		}
		closeDB(t, again)
		wantErased(t, copied)
	}
}

// What a reader may still read is erased once it has left.
func TestAReaderKeepsWhatItReads(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	markedPush(t, db, 1, 50_000)
	mustCreate(t, db, 2)
	// Free room inside the file, for what comes while the reader is there. bbolt does not
	// note which transaction took a page at the end of the file (DB.allocate), and so holds
	// it for every reader.
	markedPush(t, db, 4, 400_000)
	mustPurge(t, db, 4)
	db.EraseFree(t)
	err := db.Look(t.Context(), func(b *bbolt.Tx) error {
		var payload []byte
		_ = b.Bucket([]byte("payloads")).ForEach(func(_, v []byte) error {
			if bytes.Contains(v, marker) {
				payload = v
			}
			return nil
		})
		mustPurge(t, db, 1)
		markedPush(t, db, 3, 50_000) // both made and gone while the reader is there
		mustPurge(t, db, 3)
		db.EraseFree(t)
		if n := bytes.Count(payload, marker); n < 50_000/len(marker) {
			t.Errorf("the reader sees %d markers", n)
		}
		if n := markers(t, path); n != bytes.Count(payload, marker) {
			t.Errorf("the file has %d markers, the reader may read %d", n, bytes.Count(payload, marker))
		}
		return nil
	})
	env.OK(t, err)
	db.EraseFree(t)
	if n := markers(t, path); n != 0 {
		t.Errorf("after the reader has left, the marker is there %d times", n)
	}
}

// A commit that failed for lack of space may have written pages that it never used.
func TestWhatAnUndoneCommitWroteIsErased(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=2m")
	path := filepath.Join(dir, "pushbox.db")
	db := open(t, bolt.Options{Path: path})
	payload := bytes.Repeat(marker, 20_000)
	err := conformance.Made(db.CreatePush(t.Context(), newPush(1), payload, record.Entry{Kind: record.EntryCreation}))
	for n := 2; err == nil && n < 20; n++ {
		err = conformance.Made(db.CreatePush(t.Context(), newPush(n), payload, record.Entry{Kind: record.EntryCreation}))
	}
	if !errors.Is(err, record.ErrFull) {
		t.Fatalf("the disk is not full: %v", err)
	}
	remount(t, dir, "size=8m")
	db.EraseFree(t)
	wantErased(t, asKilled(t, path))
	conformance.CheckClean(t, db)
	closeDB(t, db)
}

// A file that a compaction replaced no longer holds anything, neither for a process that still
// has it open nor for a reader of the disk below the file system. With another name it stays.
func TestACompactionLeavesNothingOfTheOldFile(t *testing.T) {
	t.Parallel()
	for name, linked := range map[string]bool{"alone": false, "with another name": true} {
		path := newPath(t)
		db := open(t, bolt.Options{Path: path})
		markedPush(t, db, 1, 50_000)
		old, err := os.Open(path)
		if err == nil && linked {
			err = os.Link(path, path+".linked")
		}
		env.OK(t, err)
		mustCompact(t, db)
		if markers(t, path) == 0 {
			t.Errorf("%s: the new file lacks a payload", name)
		}
		closeDB(t, db)
		held, err := io.ReadAll(old)
		if err = errors.Join(err, old.Close()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(held, marker) != linked {
			t.Errorf("%s: the old file still has it: %t", name, !linked)
		}
		if !linked && !isZero(held) {
			t.Errorf("%s: the old file is not erased", name)
		}
	}
}

// What was deleted while a copy was made is not in the free pages of the copy.
func TestACopyHoldsNothingThatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	for n := range 20 {
		markedPush(t, db, n, 3000)
	}
	gone := 0
	temp, err := db.BackupWith(t.Context(), "", bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(done, _ int64) {
		if done > 20_000 && gone < 20 {
			mustPurge(t, db, gone)
			gone++
		}
	}})
	env.OK(t, err)
	if gone < 10 {
		t.Fatalf("only %d pushes were deleted", gone)
	}
	wantErased(t, temp)
}

// Whatever is written, deleted and read meanwhile, the eraser meets no page that a
// reader or the file needs.
func TestErasingBesideWritersAndReadersHarmsNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	db.NoSync()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var others, writers sync.WaitGroup
	others.Go(func() {
		for ctx.Err() == nil {
			db.EraseFree(t)
		}
	})
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				if err := lookTwice(db); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	rounds := int(env.Length(t, "PUSHBOX_TEST_ERASE_ROUNDS"))
	for w := range 3 {
		writers.Go(func() { writeAndPurge(t, db, rand.New(rand.NewPCG(seed, uint64(w))), 1000*w, rounds) })
	}
	writers.Wait()
	cancel()
	others.Wait()
	conformance.CheckClean(t, db)
	db.FoldJournal(t)
	db.EraseFree(t)
	wantErased(t, asKilled(t, path))
	closeDB(t, db)
	again := open(t, bolt.Options{Path: path})
	conformance.CheckClean(t, again)
}

// lookTwice reads all rows twice in one transaction and compares them.
func lookTwice(db *bolt.DB) error {
	return db.Look(context.Background(), func(b *bbolt.Tx) error {
		first, err := allRows(b)
		if err != nil {
			return err
		}
		second, err := allRows(b)
		if err == nil && !bytes.Equal(first, second) {
			err = errors.New("what a reader sees changed")
		}
		return err
	})
}

func allRows(b *bbolt.Tx) (all []byte, err error) {
	err = b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		all = append(all, name...)
		return bucket.ForEach(func(k, v []byte) error {
			all = append(append(all, k...), v...)
			return nil
		})
	})
	return all, err
}

func writeAndPurge(t *testing.T, db *bolt.DB, some *rand.Rand, first, rounds int) {
	var there []int
	for n := range rounds {
		if len(there) > 10 && some.IntN(2) == 0 {
			i := some.IntN(len(there))
			if _, err := db.Change(context.Background(), id(there[i]), purge); err != nil {
				t.Error(err)
				return
			}
			there = append(there[:i], there[i+1:]...)
			continue
		}
		payload := bytes.Repeat([]byte(fmt.Sprint(first+n, " ")), some.IntN(4)*some.IntN(10_000)+1)
		if err := conformance.Made(db.CreatePush(context.Background(), newPush(first+n), payload, record.Entry{Kind: record.EntryCreation})); err != nil {
			t.Error(err)
			return
		}
		there = append(there, first+n)
	}
}
