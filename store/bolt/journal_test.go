package bolt_test

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestTheEngineConformsWhileItsJournalIsFoldedOverAndOver(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) record.Engine {
		db := openNew(t)
		db.TinyJournal(t)
		return db
	})
}

func TestTheEngineConformsWhileNothingIsFolded(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) record.Engine {
		db := openNew(t)
		db.KeepJournal(t, 1<<20)
		return db
	})
}

// createWide creates a push with a high view limit.
func createWide(t *testing.T, db *bolt.DB, n int) {
	t.Helper()
	p := newPush(n)
	p.ViewLimit = 1 << 20
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), record.Entry{Kind: record.EntryCreation})))
}

// withViews makes a database whose journal has some views of two pushes.
func withViews(t *testing.T, path string) *bolt.DB {
	t.Helper()
	db := open(t, bolt.Options{Path: path})
	db.KeepJournal(t, 100)
	createWide(t, db, 1)
	createWide(t, db, 2)
	changeAll(t, db, []int{1, 2, 1, 1})
	if n := db.JournalRows(t); n != 4 {
		t.Fatalf("%d rows are in the journal", n)
	}
	return db
}

// wantViewed fails the test unless a push has that many views, also in its audit log.
func wantViewed(t *testing.T, db *bolt.DB, n, views int) {
	t.Helper()
	p, err := conformance.Push(t.Context(), db, id(n))
	if err != nil || p.Views != views || int(p.Seq) != 1+views {
		t.Errorf("push %d: %v, %d views and %d entries", n, err, p.Views, p.Seq)
	}
	for skip := range 3 {
		es, err := db.Entries(t.Context(), id(n), skip, 100)
		if err != nil || len(es) != max(0, 1+views-skip) {
			t.Errorf("push %d: from %d on, there are %d entries, %v", n, skip, len(es), err)
		}
	}
	if es, err := db.Entries(t.Context(), id(n), 0, views); err != nil || len(es) != views {
		t.Errorf("push %d: of %d entries asked for came %d, %v", n, views, len(es), err)
	}
	if list, err := db.Scan(t.Context(), record.ID{}, 10); err != nil || list[n-1].Views != views {
		t.Errorf("push %d: a scan finds %v, %v", n, list, err)
	}
}

func TestAKillLosesNothingOfTheJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	withViews(t, path)
	killed := asKilled(t, path)
	for _, fold := range []bool{false, false, true, false} {
		db := open(t, bolt.Options{Path: killed})
		wantViewed(t, db, 1, 3)
		wantViewed(t, db, 2, 1)
		conformance.CheckClean(t, db)
		if fold {
			db.FoldJournal(t)
			wantViewed(t, db, 1, 3)
			conformance.CheckClean(t, db)
		}
		closeDB(t, db)
	}
}

// A kill after folding and before the rows are removed leaves folded rows.
func TestFoldingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := withViews(t, path)
	rows := db.Journal(t)
	db.FoldJournal(t)
	changeAll(t, db, []int{1})
	db.FoldJournal(t)
	db.PutJournal(t, rows)
	again := open(t, bolt.Options{Path: asKilled(t, path)})
	for range 2 {
		wantViewed(t, again, 1, 4)
		wantViewed(t, again, 2, 1)
		conformance.CheckClean(t, again)
		again.FoldJournal(t)
	}
	if n := again.JournalRows(t); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// A purge may come at any moment of the work on the rows of its push.
func TestAPushThatIsMadeAgainMeanwhileHasNothingOfTheOldOne(t *testing.T) {
	t.Parallel()
	for steps := range 12 {
		path := newPath(t)
		db := withViews(t, path)
		db.StepJournal(t, steps)
		if _, err := db.Change(t.Context(), id(1), purge); err != nil {
			t.Fatal(err)
		}
		if es, err := db.Entries(t.Context(), id(1), 0, 10); err != nil || len(es) != 0 {
			t.Errorf("a purged push has %d entries, %v", len(es), err)
		}
		createWide(t, db, 1)
		wantViewed(t, db, 1, 0)
		changeAll(t, db, []int{1})
		for _, db := range []*bolt.DB{db, open(t, bolt.Options{Path: asKilled(t, path)})} {
			for range 2 {
				wantViewed(t, db, 1, 1)
				wantViewed(t, db, 2, 1)
				conformance.CheckClean(t, db)
				db.FoldJournal(t)
			}
		}
	}
}

func TestAnEndFollowsTheViewsBeforeIt(t *testing.T) {
	t.Parallel()
	db := withViews(t, newPath(t))
	if _, err := db.Change(t.Context(), id(1), func(p record.Push) (record.Push, record.Entry, error) {
		p.State, p.Wrap, p.ExpiredAt = record.Deleted, nil, time.UnixMilli(5).UTC()
		p.Seq++
		return p, record.Entry{Kind: record.EntryExpire}, nil
	}); err != nil {
		t.Fatal(err)
	}
	es, err := db.Entries(t.Context(), id(1), 0, 10)
	if err != nil || len(es) != 5 || es[4].Kind != record.EntryExpire {
		t.Errorf("its audit log is %v, %v", es, err)
	}
	conformance.CheckClean(t, db)
	db.FoldJournal(t)
	conformance.CheckClean(t, db)
	wantViewed(t, db, 2, 1)
}

// If nothing can be folded, views are written to their places without the journal.
func TestChangesBypassAFullJournal(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	db.KeepJournal(t, 3)
	createWide(t, db, 1)
	for views := range 6 {
		wantViewed(t, db, 1, views)
		rows := views
		if views > 3 {
			rows = 0 // a change that bypasses the journal takes the rows of its push along
		}
		if n := db.JournalRows(t); n != rows {
			t.Errorf("after %d views %d rows are in the journal", views, n)
		}
		conformance.CheckClean(t, db)
		changeAll(t, db, []int{1})
	}
	db.FoldJournal(t)
	wantViewed(t, db, 1, 6)
}

// A reader sees the state of one moment, with at least all that was answered before it
// began.
func TestReadersSeeEveryViewThatWasAnswered(t *testing.T) {
	t.Parallel()
	const pushes, readers = 3, 4
	views := int(env.Length(t, "PUSHBOX_TEST_JOURNAL_VIEWS"))
	db := open(t, bolt.Options{Path: newPath(t)})
	db.NoSync()
	db.TinyJournal(t)
	var answered [pushes]atomic.Int64
	for n := range pushes {
		createWide(t, db, n)
	}
	var writing, reading sync.WaitGroup
	for n := range pushes {
		writing.Go(func() {
			for range views {
				if _, err := db.Change(t.Context(), id(n), view); err != nil {
					t.Error(err)
					return
				}
				answered[n].Add(1)
			}
		})
	}
	done := make(chan struct{})
	for r := range readers {
		reading.Go(func() {
			for i := r; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				n := i % pushes
				before := answered[n].Load()
				p, err := conformance.Push(t.Context(), db, id(n))
				if err != nil || int64(p.Views) < before || int(p.Seq) != 1+p.Views {
					t.Errorf("after %d views: %d, and %d entries, %v", before, p.Views, p.Seq, err)
				}
				before = answered[n].Load()
				es, err := db.Entries(t.Context(), id(n), int(before), 1)
				if err != nil || len(es) != 1 {
					t.Errorf("after %d views there is no entry about the last one: %v", before, err)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for n := range pushes {
		p, err := conformance.Push(t.Context(), db, id(n))
		if err != nil || p.Views != views {
			t.Errorf("push %d has %d views of %d, %v", n, p.Views, views, err)
		}
	}
	conformance.CheckClean(t, db)
}

func TestADamagedJournalIsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string][2]string{
		"a key of another length": {"1", "x"},
		"no version":              {"12345678", ""},
		"another version":         {"12345678", "\x03" + string(make([]byte, 22)) + "\x01\x02\x00\x00\x01\x00entry"},
		"cut short":               {"12345678", "\x01" + string(make([]byte, 22))},
		"no entry number":         {"12345678", "\x01" + string(make([]byte, 40))},
		"counts cut short":        {"12345678", "\x02" + string(make([]byte, 22)) + "\x01\x02\x00\x00"},
		"no state":                {"12345678", "\x02" + string(make([]byte, 22)) + "\x01\x02\x00\x00\x00\x00entry"},
		"another state":           {"12345678", "\x02" + string(make([]byte, 22)) + "\x01\x02\x00\x00\x04\x00entry"},
		"no entry":                {"12345678", "\x02" + string(make([]byte, 22)) + "\x01\x02\x00\x00\x01\x00"},
		"an end cut short":        {"12345678", "\x02" + string(make([]byte, 22)) + "\x01\x02\x00\x00\x02\x00\x01"},
	} {
		path := newPath(t)
		db := withViews(t, path)
		db.PutJournal(t, map[string]string{row[0]: row[1]})
		found := 0
		if err := db.Check(t.Context(), func(string) { found++ }); err != nil || found == 0 {
			t.Errorf("%s: a check finds %d faults, %v", name, found, err)
		}
		killed := asKilled(t, path)
		db.DeleteJournal(t, row[0])
		if _, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: killed}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRowsOfTheJournalOutOfOrderAreRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := withViews(t, path)
	rows := db.Journal(t)
	last := rows[string(binary.BigEndian.AppendUint64(nil, 3))]
	for name, number := range map[string]uint64{"counts that do not grow": 4, "a number far away": 1 << 30} {
		key := string(binary.BigEndian.AppendUint64(nil, number))
		db.PutJournal(t, map[string]string{key: last})
		killed := asKilled(t, path)
		db.DeleteJournal(t, key)
		if _, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: killed}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantViewed(t, db, 1, 3)
}

// However fast views come, the journal is folded as fast.
func TestTheJournalStaysWithinItsBoundsUnderLoad(t *testing.T) {
	t.Parallel()
	const viewers, most = 64, 40
	db := open(t, bolt.Options{Path: newPath(t)})
	db.NoSync()
	db.BoundJournal(t, 10, most)
	var all sync.WaitGroup
	for n := range viewers {
		createWide(t, db, n)
	}
	for n := range viewers {
		all.Go(func() {
			for range 20 {
				if _, err := db.Change(t.Context(), id(n), view); err != nil {
					t.Error(err)
				}
				if rows := db.JournalRows(t); rows > most+viewers {
					t.Errorf("%d rows are in the journal", rows)
				}
			}
		})
	}
	all.Wait()
	db.FoldJournal(t)
	if n := db.JournalRows(t); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	for n := range viewers {
		wantViews(t, db, n, 20)
	}
}

// A commit may take a little longer for the work on the journal, and not many times as long.
func TestACommitDoesAsMuchWorkOnTheJournalAsItHasOperations(t *testing.T) {
	t.Parallel()
	const viewed = 300
	db := open(t, bolt.Options{Path: newPath(t)})
	db.NoSync()
	db.KeepAll(t)
	for n := range viewed {
		createWide(t, db, n)
		changeAll(t, db, []int{n})
	}
	for operations, want := range map[int][2]int{0: {128, 256}, 1: {16, 64}, 8: {16, 64}, 20: {40, 80}, 70: {140, 280}, 200: {viewed, viewed}} {
		if pushes, rows := db.Portions(operations); pushes != want[0] || rows != want[1] {
			t.Errorf("with %d operations it folds %d pushes or removes %d rows, not %d or %d", operations, pushes, rows, want[0], want[1])
		}
	}
}

// A damaged page must not fail the store before a read or a change reaches it.
func TestDamageUnderTheJournalFailsOnlyWhatReachesIt(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := withViews(t, path)
	for n := 3; n < 300; n++ {
		createWide(t, db, n)
	}
	killed := asKilled(t, path)
	damage(t, killed, db.LeafPage(t, "pushes", 1))
	again, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: killed})
	env.OK(t, err)
	again.FoldJournal(t)
	for range 3 {
		if _, err := conformance.Push(t.Context(), again, id(299)); err != nil {
			t.Fatalf("a push on another page: %v", err)
		}
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func wantViews(t *testing.T, db *bolt.DB, n, views int) {
	t.Helper()
	p, err := conformance.Push(t.Context(), db, id(n))
	if err != nil || p.Views != views {
		t.Errorf("push %d: %v, %d views", n, err, p.Views)
	}
}
