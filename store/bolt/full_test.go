package bolt_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func changeAll(t *testing.T, db *bolt.DB, numbers []int) {
	t.Helper()
	for _, n := range numbers {
		if _, err := db.Change(t.Context(), id(n), view); err != nil {
			t.Fatalf("view after there was space: %v", err)
		}
	}
}

func view(p record.Push) (record.Push, record.Entry, error) {
	p.Views++
	p.Seq++
	return p, record.Entry{Kind: record.EntryView}, nil
}

func purge(p record.Push) (record.Push, record.Entry, error) {
	p.State = record.Purged
	return p, record.Entry{}, nil
}

func TestADirectoryThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=4m")
	path := filepath.Join(dir, "pushbox.db")
	other := filepath.Join(dir, "other.db")
	closeDB(t, open(t, bolt.Options{Path: path}))
	remount(t, dir, "ro")
	for _, p := range []string{path, other} {
		if _, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: p}); err == nil || created {
			t.Errorf("%s opened on a file system that cannot be written", filepath.Base(p))
		}
	}
	remount(t, dir, "rw")
	closeDB(t, open(t, bolt.Options{Path: path}))
}

// What clients can have appended without end leaves some of the space to what ends pushes.
func TestTheLastSpaceIsForWhatEndsPushes(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filepath.Join(t.TempDir(), "pushbox.db")})
	p := conformance.LivePush(1, 0)
	p.ViewLimit = 3
	free, _, err := durable.FreeSpace(t.TempDir())
	env.OK(t, errors.Join(err, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p)))))
	for n, c := range []struct {
		minFree int64
		rule    record.Rule
		want    error
	}{
		{2 * free, conformance.View, nil},
		{16 * free, conformance.View, record.ErrFull},
		{2 * free, conformance.View, nil},
		{16 * free, conformance.View, nil}, // the last one
		{16 * free, conformance.Purge, nil},
	} {
		db.SetSpaceLimits(record.SpaceLimits{MinFree: c.minFree})
		if _, err := db.Change(t.Context(), p.ID, c.rule); !errors.Is(err, c.want) {
			t.Errorf("change %d: %v, want %v", n, err, c.want)
		}
	}
	closeDB(t, db)
}

// An edit with a longer note needs space for it, and an edit with a shorter one does not.
func TestAnEditTakesSpaceForWhatItsNoteGrowsBy(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=16m")
	db := open(t, bolt.Options{Path: filepath.Join(dir, "pushbox.db")})
	p := conformance.LivePush(1, 0)
	p.Stored = 4 << 20
	free, _, err := durable.FreeSpace(dir)
	env.OK(t, errors.Join(err, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p)))))
	db.SetSpaceLimits(record.SpaceLimits{MinFree: 8 * (free - 1<<20)}) // of which an eighth is for what ends pushes
	for _, c := range []struct {
		grows int64
		want  error
	}{{2 << 20, record.ErrFull}, {1 << 19, nil}, {0, nil}, {-2 << 20, nil}, {2 << 20, record.ErrFull}} {
		_, err := db.Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			p.Stored += c.grows
			p.Seq++
			return p, record.Entry{Kind: record.EntryEdit}, nil
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%d bytes more: %v, want %v", c.grows, err, c.want)
		}
	}
	closeDB(t, db)
}

// Whatever clients send with them, and however little another program has left: pushes can end, and
// what else clients ask for takes nothing of what that needs.
func TestOnADiskThatAnotherProgramFillsPushesEnd(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=16m")
	limits := record.SpaceLimits{MinFree: 8 << 20}
	db := open(t, bolt.Options{Path: filepath.Join(dir, "pushbox.db"), MinFree: limits.MinFree})
	changeEach := func(rule record.Rule) {
		t.Helper()
		eachOf(t, 3000, func(p record.Push) error {
			_, err := db.Change(t.Context(), p.ID, rule)
			return err
		})
	}
	db.SetSpaceLimits(record.SpaceLimits{})
	eachOf(t, 3000, func(p record.Push) error {
		return conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p)))
	})
	db.SetSpaceLimits(limits)
	fillBut(t, filepath.Join(dir, "other"), 200<<10)
	if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told); !errors.Is(err, record.ErrFull) {
		t.Errorf("an account more: %v", err)
	}
	changeEach(func(p record.Push) (record.Push, record.Entry, error) {
		p.ViewLimit = p.Views + 1
		return viewAtLength(p)
	})
	if left, _, err := durable.FreeSpace(dir); err != nil || left == 0 {
		t.Errorf("%d bytes are left, %v", left, err)
	}
	conformance.CheckClean(t, db)
	changeEach(purge)
	closeDB(t, db)
}

// Many pushes far apart that end at once on such a disk use it up, since each leaves an entry and
// frees little. They continue as soon as there is some space, and so does the folding of what the
// journal has of them.
func TestWhereEndsUsedUpTheDiskSomeSpaceIsEnough(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64m")
	db := open(t, bolt.Options{Path: filepath.Join(dir, "pushbox.db")})
	createScattered(t, db, 10_000)
	db.SetSpaceLimits(record.SpaceLimits{MinFree: 8 << 20})
	other := filepath.Join(dir, "other")
	free := fillBut(t, other, 400<<10)
	var mu sync.Mutex
	const step, most = 128 << 10, 16
	given := 0
	scattered(t, 10_000, func(p record.Push) error {
		for {
			_, err := db.Change(t.Context(), p.ID, viewAtLength)
			if !errors.Is(err, record.ErrFull) {
				return err
			}
			mu.Lock()
			if left, _, _ := durable.FreeSpace(dir); left == 0 {
				given++
				err = os.Truncate(other, free-400<<10-int64(given)*step)
			} else {
				err = nil
			}
			mu.Unlock()
			if err != nil || given > most {
				return errors.Join(err, record.ErrFull)
			}
		}
	})
	awaitEmpty(t, db)
	conformance.CheckClean(t, db)
}

// What the journal has from before is folded in the order of its rows then, so that each commit gives
// back what it takes.
func TestAJournalFromBeforeTheDiskWasFullIsFolded(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64m")
	db := open(t, bolt.Options{Path: filepath.Join(dir, "pushbox.db")})
	createScattered(t, db, 10_000)
	db.KeepJournal(t, 10_000)
	scattered(t, 2_000, func(p record.Push) error {
		_, err := db.Change(t.Context(), p.ID, viewAtLength)
		return err
	})
	db.SetSpaceLimits(record.SpaceLimits{MinFree: 8 << 20})
	other := filepath.Join(dir, "other")
	full := fillBut(t, other, 0)
	db.FoldNow(t)
	env.OK(t, os.Truncate(other, full-2<<20))
	awaitEmpty(t, db)
	conformance.CheckClean(t, db)
}

// viewAtLength is a last view with as long an entry as there can be.
func viewAtLength(p record.Push) (record.Push, record.Entry, error) {
	next, e, err := conformance.View(p)
	e.Sealed = make([]byte, 600)
	return next, e, err
}

// eachOf calls do with each of so many pushes, many of them at the same time.
func eachOf(t *testing.T, pushes int, do func(p record.Push) error) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(256)
	for n := range pushes {
		g.Go(func() error { return do(conformance.LivePush(n, 0)) })
	}
	env.OK(t, g.Wait())
}

// scattered is eachOf with pushes whose IDs are far apart, and that one view ends.
func scattered(t *testing.T, pushes int, do func(p record.Push) error) {
	t.Helper()
	eachOf(t, pushes, func(p record.Push) error {
		p.ViewLimit = 1
		sum := sha256.Sum256(p.ID[:])
		copy(p.ID[:], sum[:])
		return do(p)
	})
}

// createScattered creates such pushes in a file that then has no page free.
func createScattered(t *testing.T, db *bolt.DB, pushes int) {
	t.Helper()
	scattered(t, pushes, func(p record.Push) error {
		return conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p)))
	})
	env.OK(t, db.Compact(t.Context(), func(int64, int64) {}))
}

// fillBut writes a file as large as its file system has space, but for some bytes. It returns how many
// bytes were free before.
func fillBut(t *testing.T, path string, left int64) int64 {
	t.Helper()
	free, _, err := durable.FreeSpace(filepath.Dir(path))
	if err == nil {
		err = os.WriteFile(path, make([]byte, free-left), 0o600)
	}
	env.OK(t, err)
	return free
}
