package bolt

import (
	"bytes"
	"os"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// gone is in the payload of each push of createGone.
var gone = []byte("this is in a payload that is to end")

func createGone(t *testing.T, db *DB, n, size int) {
	t.Helper()
	payload := bytes.Repeat(gone, size/len(gone)+1)
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), testPush(n), payload, record.Entry{Kind: record.EntryCreation})))
}

func endAll(t *testing.T, db *DB, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if _, err := db.Change(t.Context(), testPush(n).ID, end); err != nil {
			t.Fatal(err)
		}
	}
	db.FoldJournal(t)
}

// left is how much of the payloads of createGone is in the file.
func left(t *testing.T, db *DB) int {
	t.Helper()
	b, err := os.ReadFile(db.path)
	env.OK(t, err)
	return bytes.Count(b, gone)
}

// quietRound runs a round of the eraser over all that is free. It reads once, which is
// readMost at most.
func quietRound(db *DB) { db.eraseOnce(0) }

// A round whose commit is refused, as on a full disk, erases what needs no commit.
func TestARoundWithoutItsCommitErasesWhatNeedsNone(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{NoErase: true})
	createGone(t, db, 1, 50_000)
	quietRound(db)
	quietRound(db)
	endAll(t, db, 1)
	env.OK(t, createSize(t, db, 2, 100))
	if left(t, db) == 0 || !db.current.Load().eraser.stale {
		t.Fatal("nothing waits for the eraser")
	}
	db.unlocked.Store(false) // refuses the commit, and leaves the DB as it is
	quietRound(db)
	db.unlocked.Store(true)
	if n := left(t, db); n > 0 {
		t.Errorf("%d pieces are left", n)
	}
	if !db.current.Load().eraser.stale {
		t.Error("there was a commit")
	}
}

// restart has a DB opened again by an eraser that knows nothing, as after a kill.
func restart(t *testing.T, db *DB) *DB {
	t.Helper()
	env.OK(t, db.Close())
	again, _, err := OpenUnlocked(t.Context(), Options{Path: db.path, NoErase: true})
	env.OK(t, err)
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	return again
}

// manyUnknown is a DB that was started again with that many readMost of free pages, which
// are not erased.
func manyUnknown(t *testing.T, many int) *DB {
	t.Helper()
	db := newDB(t, Options{NoErase: true})
	var all []int
	for n := range many {
		createGone(t, db, n, readMost)
		all = append(all, n)
	}
	endAll(t, db, all...)
	return restart(t, db)
}

// rounds are how many rounds it takes until the eraser has nothing left to do.
func rounds(t *testing.T, db *DB) (n int) {
	t.Helper()
	for ; !db.current.Load().eraser.done(); n++ {
		if quietRound(db); n > 100 {
			t.Fatal("the eraser is never done")
		}
	}
	return n
}

// However much is to be read after a start, what ends meanwhile is erased in a few rounds.
func TestWhatEndsIsErasedWhileAStartIsReading(t *testing.T) {
	t.Parallel()
	db := manyUnknown(t, 12)
	e := &db.current.Load().eraser
	quietRound(db)
	before := e.unknown.count
	if before == 0 || e.done() {
		t.Fatal("one round has read everything")
	}
	const late = "this ended while the start was reading"
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), testPush(50), bytes.Repeat([]byte(late), 1000), record.Entry{Kind: record.EntryCreation})))
	endAll(t, db, 50)
	for range 2 {
		quietRound(db)
	}
	b, err := os.ReadFile(db.path)
	env.OK(t, err)
	if n := bytes.Count(b, []byte(late)); n > 0 || e.unknown.count == 0 || e.unknown.count >= before {
		t.Errorf("%d pieces of what ended are left; of %d pages to read, %d are", n, before, e.unknown.count)
	}
	rounds(t, db)
	if n := left(t, db); n > 0 {
		t.Errorf("%d pieces are left", n)
	}
}

// Commits that are undone by a full disk have everything read again. The reader continues
// where it was, and so reaches every page.
func TestReadingReachesTheEndThoughItBeginsAgain(t *testing.T) {
	t.Parallel()
	db := manyUnknown(t, 6)
	e := &db.current.Load().eraser
	for range 40 {
		e.all = true
		quietRound(db)
	}
	if n := left(t, db); n > 0 {
		t.Errorf("%d pieces are left", n)
	}
	if n := len(e.last); n > 200 {
		t.Errorf("%d pages wait for a commit", n)
	}
}

// Pages that a commit uses and frees while they are still to be read are freed ones, which
// the older header may lead to.
func TestAPageThatIsFreedIsNotUnknown(t *testing.T) {
	t.Parallel()
	db := manyUnknown(t, 4)
	e := &db.current.Load().eraser
	quietRound(db)
	for n := range 20 {
		createGone(t, db, 50+n, 100_000)
		endAll(t, db, 50+n)
		for _, id := range e.last {
			if e.unknown.has(id) {
				t.Fatalf("page %d was freed, and is to be read", id)
			}
		}
	}
	env.OK(t, db.compact(newCompaction(t.Context(), db, func(_, _ int64) {})))
	if now := &db.current.Load().eraser; !now.all || now.unknown.count > 0 {
		t.Errorf("the new file begins with %d pages to read", now.unknown.count)
	}
	rounds(t, db)
	if n := left(t, db); n > 0 {
		t.Errorf("%d pieces are left", n)
	}
}

// What is not erased yet is erased before the file is closed, if there is time for it. It
// is not read twice.
func TestAStopGoesOnWhereTheEraserWas(t *testing.T) {
	t.Parallel()
	db := manyUnknown(t, 6)
	h := db.current.Load()
	for range 2 {
		quietRound(db)
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	unread, before := h.eraser.unknown.count, left(t, db)
	env.OK(t, h.eraseUntil(time.Now()))
	if h.eraser.unknown.count != unread || left(t, db) != before || unread == 0 || before == 0 {
		t.Errorf("without time, %d of %d pages are to be read, and %d of %d pieces left", h.eraser.unknown.count, unread, left(t, db), before)
	}
	h.eraser.unknown = pageSet{} // as if the rounds had read everything
	env.OK(t, h.eraseRest(env.Patience))
	if left(t, db) == 0 {
		t.Error("everything was read again")
	}
	h.eraser.all = true
	env.OK(t, h.eraseRest(env.Patience))
	if n := left(t, db); n > 0 || !h.eraser.done() {
		t.Errorf("%d pieces are left", n)
	}
}

// A file that is cut while it is open may end before its free pages do.
func TestNothingIsLeftToEraseBehindTheEndOfTheFile(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{NoErase: true})
	createGone(t, db, 1, 50_000)
	h := db.current.Load()
	info, err := h.file.Stat()
	env.OK(t, err)
	size := int64(h.bolt.Info().PageSize)
	first := uint64(info.Size() / size)
	buffer := bytes.Repeat([]byte{1}, int(8*size))
	for _, runs := range [][]run{{{first: first, count: 3}}, {{first: first + 1, count: 8}}, {{first: first, count: 1}}} {
		read, found := h.readTurn(runs, buffer)
		if len(read) != 1 || len(found) > 0 {
			t.Errorf("%v: read %v, not erased %v", runs, read, found)
		}
	}
	if _, err := h.file.WriteAt([]byte{1}, int64(first)*size); err != nil {
		t.Fatal(err)
	}
	if _, found := h.readTurn([]run{{first: first, count: 3}}, buffer); len(found) != 1 || found[0] != first {
		t.Errorf("of three pages, of which the file holds the first byte of one, %v are not erased", found)
	}
}
