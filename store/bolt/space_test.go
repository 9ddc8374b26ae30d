package bolt

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// newDB opens a new database, which is checked and closed at the end.
func newDB(t *testing.T, o Options) *DB {
	t.Helper()
	o.Path = filepath.Join(t.TempDir(), "pushbox.db")
	db, _, err := OpenUnlocked(t.Context(), o)
	env.OK(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// inUse is the number of bytes of the file that are in use.
func inUse(t *testing.T, db *DB) (n int64) {
	t.Helper()
	s := db.raw().Stats()
	err := db.raw().View(func(b *bbolt.Tx) error {
		n = b.Size() - int64(s.FreePageN+s.PendingPageN)*int64(db.raw().Info().PageSize)
		return nil
	})
	env.OK(t, err)
	return n
}

func testPush(n int) record.Push {
	return record.Push{ID: record.ID{21: byte(n)}, Kind: record.Text, State: record.Live, ViewLimit: 1, Seq: 1, Wrap: []byte("sealed")}
}

func createSize(t *testing.T, db *DB, n, size int) error {
	t.Helper()
	return conformance.Made(db.CreatePush(t.Context(), testPush(n), make([]byte, size), record.Entry{Kind: record.EntryCreation}))
}

func end(p record.Push) (record.Push, record.Entry, error) {
	p.State = record.Purged
	return p, record.Entry{}, nil
}

func TestCreatesFitInToTheLastByte(t *testing.T) {
	t.Parallel()
	const payload = 10_000
	for _, c := range []struct {
		short int64
		want  error
	}{{0, nil}, {1, record.ErrFull}} {
		db := newDB(t, Options{})
		db.SetSpaceLimits(record.SpaceLimits{MaxSize: inUse(t, db) + payload + pushWeight - c.short})
		if err := createSize(t, db, 1, payload); !errors.Is(err, c.want) {
			t.Errorf("%d bytes short: got error %v, want %v", c.short, err, c.want)
		}
	}
}

func TestAFullStoreGoesOnAndHasSpaceAgain(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{MaxSize: 1 << 20})
	n := 0
	for ; ; n++ {
		if err := createSize(t, db, n, 50_000); errors.Is(err, record.ErrFull) {
			break
		} else if err != nil || n > 50 {
			t.Fatalf("push %d: %v", n, err)
		}
	}
	if used := inUse(t, db); used > 1<<20 || n < 10 {
		t.Errorf("%d pushes, %d bytes", n, used)
	}
	for i := range n {
		if _, err := db.Change(t.Context(), testPush(i).ID, end); err != nil {
			t.Errorf("purge in a full store: %v", err)
		}
	}
	for i := range n {
		if err := createSize(t, db, i, 50_000); err != nil {
			t.Errorf("create in the space that was freed: %v", err)
		}
	}
}

func TestTheLowerOfBothLimitsCounts(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	used := inUse(t, db)
	unused := int64(db.raw().Stats().FreePageN+db.raw().Stats().PendingPageN) * int64(db.raw().Info().PageSize)
	free := func(n int64, known bool, err error) freeSpace {
		return func(string) (int64, bool, error) { return n, known, err }
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		limits limits
		free   freeSpace
		bytes  int
		want   error
	}{
		"no limits":                {limits{}, free(0, true, broken), 1 << 30, nil},
		"size, just enough":        {limits{maxSize: used + 100}, nil, 100, nil},
		"size, a byte short":       {limits{maxSize: used + 100}, nil, 101, record.ErrFull},
		"size, already past":       {limits{maxSize: used - 1}, nil, 0, record.ErrFull},
		"disk, just enough":        {limits{minFree: 500 + unused}, free(600, true, nil), 100, nil},
		"disk, a byte short":       {limits{minFree: 500 + unused}, free(600, true, nil), 101, record.ErrFull},
		"disk, free space unknown": {limits{minFree: 500}, free(0, false, nil), 1 << 30, nil},
		"disk, broken":             {limits{minFree: 500}, free(0, false, broken), 0, broken},
		"both, the disk is less":   {limits{maxSize: used + 200, minFree: 500 + unused}, free(600, true, nil), 101, record.ErrFull},
		"both, the size is less":   {limits{maxSize: used + 50, minFree: 500 + unused}, free(600, true, nil), 51, record.ErrFull},
	} {
		err := db.raw().View(func(b *bbolt.Tx) error {
			return (&tx{bolt: b, handle: db.current.Load()}).reserve(c.bytes, c.limits, c.free)
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %v", name, err, c.want)
		}
	}
}

func TestCreatesOfOneBatchShareTheAllowance(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	l := limits{maxSize: inUse(t, db) + 100}
	err := db.raw().View(func(b *bbolt.Tx) error {
		t := &tx{bolt: b}
		for i, want := range []error{nil, nil, record.ErrFull, nil, record.ErrFull} {
			if err := t.reserve([]int{40, 40, 21, 20, 1}[i], l, nil); !errors.Is(err, want) {
				return fmt.Errorf("create %d: got error %w, want %w", i, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTheFileSystemReportsItsFreeSpace(t *testing.T) {
	t.Parallel()
	n, known, err := durable.FreeSpace(t.TempDir())
	if err != nil || known && n <= 0 {
		t.Errorf("%d bytes, known %t, error %v", n, known, err)
	}
	db := newDB(t, Options{MinFree: 1 << 60})
	want := error(nil)
	if known {
		want = record.ErrFull
	}
	if err := createSize(t, db, 1, 1); !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// putSize stores a chunk of an upload.
func putSize(t *testing.T, db *DB, n, chunk, size int) error {
	t.Helper()
	return db.PutChunks(t.Context(), testPush(n).ID, 0, chunk, [][]byte{make([]byte, size)})
}

func TestChunksFitInToTheLastByte(t *testing.T) {
	t.Parallel()
	const size = 10_000
	for _, c := range []struct {
		short int64
		want  error
	}{{0, nil}, {1, record.ErrFull}} {
		db := newDB(t, Options{})
		db.SetSpaceLimits(record.SpaceLimits{MaxSize: inUse(t, db) + 2*(size+rowWeight) - c.short})
		err := db.PutChunks(t.Context(), testPush(1).ID, 0, 0, [][]byte{make([]byte, size), make([]byte, size)})
		if !errors.Is(err, c.want) {
			t.Errorf("%d bytes short: got error %v, want %v", c.short, err, c.want)
		}
		ids, err := db.Orphans(t.Context(), record.ID{}, 9)
		if kept := c.want == nil; err != nil || (len(ids) == 1) != kept {
			t.Errorf("%d bytes short: %d orphans, error %v", c.short, len(ids), err)
		}
	}
}

func TestAStoreThatAnUploadFilledGoesOnAndHasSpaceAgain(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{MaxSize: 2 << 20})
	env.OK(t, createSize(t, db, 1, 50_000))
	for round := range 2 {
		n := 0
		for ; ; n++ {
			if err := putSize(t, db, 2, n, 50_000); errors.Is(err, record.ErrFull) {
				break
			} else if err != nil || n > 100 {
				t.Fatalf("chunk %d: %v", n, err)
			}
		}
		if used := inUse(t, db); used > 2<<20 || n < 20 {
			t.Errorf("round %d: %d chunks, %d bytes", round, n, used)
		}
		if err := createSize(t, db, 3, 200_000); !errors.Is(err, record.ErrFull) {
			t.Errorf("create in a full store: %v", err)
		}
		if _, err := db.Change(t.Context(), testPush(1).ID, func(p record.Push) (record.Push, record.Entry, error) {
			p.Details = append(p.Details, "changed"...)
			return p, record.Entry{}, nil
		}); err != nil {
			t.Errorf("change in a full store: %v", err)
		}
		for more := true; more; {
			var err error
			if more, err = db.FreeOrphans(t.Context(), testPush(2).ID, 7); err != nil {
				t.Fatalf("free in a full store: %v", err)
			}
		}
	}
	if err := createSize(t, db, 3, 50_000); err != nil {
		t.Errorf("create in the space that was freed: %v", err)
	}
	if p := problems(t, db); len(p) != 0 {
		t.Errorf("check: %q", p)
	}
}
