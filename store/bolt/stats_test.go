package bolt_test

import (
	"sync"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// live returns the DB's number of live pushes.
func live(t *testing.T, db *bolt.DB) int64 {
	t.Helper()
	s, err := db.Stats(t.Context())
	env.OK(t, err)
	return s.Live
}

// counted counts the live pushes one by one.
func counted(t *testing.T, db *bolt.DB) (n int64) {
	t.Helper()
	all, err := db.Scan(t.Context(), record.ID{}, 1<<20)
	env.OK(t, err)
	for _, p := range all {
		if p.Live() {
			n++
		}
	}
	return n
}

func TestStatsHaveTheNumberOfLivePushes(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	if n := live(t, db); n != 0 {
		t.Errorf("%d are live in an empty store", n)
	}
	conformance.Fill(t, db)
	if n, want := live(t, db), counted(t, db); n != want || want < 20 {
		t.Errorf("%d are live, of %d", n, want)
	}
}

// ended is a rule that gives a push a state without its secrets.
func ended(s record.State) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p.State, p.Wrap = s, nil
		if p.ExpiredAt.IsZero() {
			p.ExpiredAt = p.ExpiresAt
		}
		return p, record.Entry{}, nil
	}
}

func TestStatsHaveTheEarliestEndOfALivePush(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	oldest := func() time.Time {
		s, err := db.Stats(t.Context())
		env.OK(t, err)
		return s.Oldest
	}
	if !oldest().IsZero() {
		t.Errorf("in an empty store: %v", oldest())
	}
	for n, end := range []int64{5000, 3000, 4000} {
		p := newPush(n)
		p.ExpiresAt = time.UnixMilli(end).UTC()
		env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("x"), record.Entry{Kind: record.EntryCreation})))
	}
	for _, want := range []int64{3000, 4000} {
		if got := oldest(); got.UnixMilli() != want {
			t.Errorf("%v, not %d", got, want)
		}
		if _, err := db.Change(t.Context(), id(map[int64]int{3000: 1, 4000: 2}[want]), ended(record.Expired)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatsHaveTheRowsOfTheJournalAndTheSizeOfTheFile(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true}) // the size is asked for twice
	db.KeepJournal(t, 100)
	mustCreate(t, db, 1)
	for range 2 {
		if _, err := db.Change(t.Context(), id(1), viewRule); err != nil {
			t.Fatal(err)
		}
	}
	s, err := db.Stats(t.Context())
	env.OK(t, err)
	if sp := space(t, db); s.Journal != 2 || s.Space != sp || s.FreePages == 0 || int64(s.FreePages)*int64(4096) > sp.Unused {
		t.Errorf("%+v beside %+v", s, sp)
	}
}

func viewRule(p record.Push) (record.Push, record.Entry, error) {
	p.Views, p.Seq = p.Views+1, p.Seq+1
	return p, record.Entry{Kind: record.EntryView}, nil
}

// TestStatsWaitForNoCommit asks for stats while a commit is being synced.
func TestStatsWaitForNoCommit(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	mustCreate(t, db, 1)
	end := db.MidCommit()
	defer end(nil)
	if _, err := db.Stats(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEachCommitIsObserved(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	commits, operations := 0, 0
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true, Committed: func(c record.Commit) {
		mu.Lock()
		defer mu.Unlock()
		commits, operations = commits+1, operations+c.Operations
		if c.Took <= 0 || c.Operations < 1 || c.Work != record.WorkNone {
			t.Errorf("%+v", c)
		}
	}})
	for n := range 3 {
		mustCreate(t, db, n)
	}
	if _, err := db.KeepTime(t.Context(), time.Time{}); err != nil { // writes nothing
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if commits != 3 || operations != 3 {
		t.Errorf("%d operations in %d commits", operations, commits)
	}
}
