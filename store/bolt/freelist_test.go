package bolt_test

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// withFreePages creates pushes and purges them until more pages are free than a commit
// lists, and checks on the way when the list is written.
func withFreePages(t *testing.T, path string) *bolt.DB {
	t.Helper()
	const payload, pushes = 1 << 20, 66
	db := open(t, bolt.Options{Path: path, NoErase: true})
	conformance.Fill(t, db)
	db.FoldJournal(t) // or folding could change the file at any time, as erasing could
	db.NoSync()
	for n := range pushes {
		payloadPush(t, db, 100+n, payload)
	}
	for n := range pushes {
		free := db.FreePages()
		if _, err := db.Change(t.Context(), id(100+n), purge); err != nil {
			t.Fatal(err)
		}
		if want := free <= bolt.MaxListed; db.Listed() != want {
			t.Fatalf("%d pages were free before a commit, and the list was written: %t", free, db.Listed())
		}
	}
	if free := db.FreePages(); free <= bolt.MaxListed || db.Listed() {
		t.Fatalf("%d pages are free and listed: %t", free, db.Listed())
	}
	return db
}

// asKilled is a copy of the file of an open database, as a kill would leave it.
func asKilled(t *testing.T, path string) string {
	t.Helper()
	copied := newPath(t)
	write(t, copied, env.Read(t, path))
	return copied
}

func isListed(t *testing.T, path string) bool {
	t.Helper()
	return freelistPage(t, path) != math.MaxUint64
}

func TestAKilledStoreOpensWithoutAListOfFreePages(t *testing.T) {
	t.Parallel()
	original := newPath(t)
	db := withFreePages(t, original)
	path := asKilled(t, original)
	if isListed(t, path) {
		t.Fatal("the list is there")
	}
	before, free := env.Read(t, path), db.FreePages()
	again := open(t, bolt.Options{Path: path, NoErase: true})
	if n := again.FreePages(); n != free {
		t.Errorf("%d pages are free, %d were", n, free)
	}
	conformance.CheckFilled(t, again)
	conformance.CheckClean(t, again)
	closeDB(t, again)
	if !bytes.Equal(before, env.Read(t, path)) {
		t.Error("opening and reading changed the file")
	}

	again = open(t, bolt.Options{Path: path})
	mustCreate(t, again, 1)
	closeDB(t, again)
	if !isListed(t, path) {
		t.Error("a store that was closed has no list of free pages")
	}
	before = env.Read(t, path)
	again = open(t, bolt.Options{Path: path})
	if n := again.FreePages(); n < free-100 || n > free+100 {
		t.Errorf("%d pages are free, about %d were", n, free)
	}
	conformance.CheckClean(t, again)
	closeDB(t, again)
	if !bytes.Equal(before, env.Read(t, path)) {
		t.Error("opening and closing a file with a list changed it")
	}
}

func TestACompactedStoreListsItsFreePagesAgain(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := withFreePages(t, path)
	mustCompact(t, db)
	if !db.Listed() || !isListed(t, path) {
		t.Error("it has no list")
	}
	if s := space(t, db); s.Size > 1<<20 {
		t.Errorf("it still has %d bytes", s.Size)
	}
	conformance.CheckFilled(t, db)
}

// bbolt looks for free pages in a goroutine of its own, where a panic would end the
// process.
func TestDamageInAFileWithoutAListIsAnErrorOfOpening(t *testing.T) {
	t.Parallel()
	original := newPath(t)
	db := withFreePages(t, original)
	for name, spoil := range map[string]func(t *testing.T, path string){
		"a leaf":         func(t *testing.T, path string) { damage(t, path, db.RootPage(t, "audit")) },
		"the first page": func(t *testing.T, path string) { damage(t, path, rootPage(t, path)) },
	} {
		path := asKilled(t, original)
		spoil(t, path)
		for range 2 { // the second shows that the first released the lock
			_, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
			if !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%s: got error %v", name, err)
			}
		}
	}
}

func TestAFileWithoutAListThatIsInUseIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := withFreePages(t, path)
	_, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path, Timeout: 100 * time.Millisecond})
	if !errors.Is(err, record.ErrInUse) {
		t.Errorf("got error %v", err)
	}
	conformance.CheckFilled(t, db)
}
