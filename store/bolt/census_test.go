package bolt_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
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

func TestTheNumberOfLivePushesIsUnknownUntilTheyAreCounted(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	defer closeDB(t, db)
	if n := live(t, db); n != -1 {
		t.Errorf("%d are live, uncounted", n)
	}
	conformance.Fill(t, db)
	if n := live(t, db); n != -1 {
		t.Errorf("%d are live, uncounted", n)
	}
	for range 2 {
		env.OK(t, db.CountLive(t.Context()))
		if n, want := live(t, db), counted(t, db); n != want || want < 20 {
			t.Errorf("%d are live, of %d", n, want)
		}
	}
}

// randomPush is the n-th push to be created; it ends at a random time.
func randomPush(random *rand.Rand, n int) record.Push {
	p := newPush(n)
	p.ExpiresAt = time.UnixMilli(random.Int64N(1 << 40)).UTC()
	return p
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

// A pushWriter creates and ends pushes of its own.
type pushWriter struct {
	*testing.T
	db     *bolt.DB
	random *rand.Rand
	from   int // number of its first push
	made   []record.ID
}

func (w *pushWriter) create() {
	p := randomPush(w.random, w.from+len(w.made))
	if err := conformance.Made(w.db.CreatePush(w.Context(), p, []byte("sealed payload"), record.Entry{Kind: record.EntryCreation})); err != nil {
		w.Error(err)
	}
	w.made = append(w.made, p.ID)
}

// step creates a push, ends or purges one, or fails in a batch, so that the other
// operations of the batch run again.
func (w *pushWriter) step() {
	switch w.random.IntN(5) {
	case 0:
		if _, err := cold.CreateAccount(w.Context(), w.db, record.Account{}, conformance.Told); err == nil { // fails while it writes
			w.Error("an empty address was kept")
		}
	case 1, 2:
		w.create()
	default:
		to := [...]record.State{record.Expired, record.Deleted, record.Purged}[w.random.IntN(3)]
		id := w.made[w.random.IntN(len(w.made))]
		if _, err := w.db.Change(w.Context(), id, ended(to)); err != nil && !errors.Is(err, record.ErrNotFound) {
			w.Error(err)
		}
	}
}

// TestTheNumberOfLivePushesIsExactWhateverHappensMeanwhile counts in small steps while
// pushes are created and ended all over the index, while batches fail and run again,
// and while the file is compacted.
func TestTheNumberOfLivePushesIsExactWhateverHappensMeanwhile(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	steps := int(env.Length(t, "PUSHBOX_TEST_CENSUS_STEPS"))
	db := open(t, bolt.Options{Path: newPath(t)})
	const writers, each = 4, 100
	var all sync.WaitGroup
	var half sync.WaitGroup
	half.Add(writers)
	for w := range writers {
		all.Go(func() {
			h := pushWriter{T: t, db: db, random: rand.New(rand.NewPCG(seed, uint64(w))), from: w << 13}
			for range each {
				h.create()
			}
			half.Done()
			for range steps {
				h.step()
			}
		})
	}
	half.Wait()
	all.Go(func() {
		if err := db.Compact(context.Background(), func(int64, int64) {}); err != nil && !errors.Is(err, record.ErrBusy) {
			t.Error(err)
		}
	})
	db.SetCensusStep(3)
	if err := db.CountLive(t.Context()); err != nil {
		t.Error(err)
	}
	early := live(t, db)
	all.Wait()
	n, want := live(t, db), counted(t, db)
	if n != want {
		t.Errorf("%d are live, of %d", n, want)
	}
	t.Logf("%d were live when the count ended, %d are live at the end", early, n)
}

func TestCountingEndsWithItsContextAndWithTheStore(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.CountLive(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	closeDB(t, db)
	if err := db.CountLive(t.Context()); !errors.Is(err, record.ErrClosed) {
		t.Error(err)
	}
	if _, err := db.Stats(t.Context()); !errors.Is(err, record.ErrClosed) {
		t.Error(err)
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
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true, Committed: func(n int, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		commits, operations = commits+1, operations+n
		if took <= 0 || n < 1 {
			t.Errorf("%d operations in %v", n, took)
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
