package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// An action is an operation on a push or an account.
type action struct {
	kind string
	push int
	size int
}

// actions are operations that do not depend on time, so the same actions leave the same rows.
func actions() *rapid.Generator[[]action] {
	one := rapid.Custom(func(t *rapid.T) action {
		return action{
			kind: rapid.SampledFrom([]string{"create", "create", "view", "end", "purge", "account"}).Draw(t, "kind"),
			push: rapid.IntRange(0, 6).Draw(t, "push"),
			size: rapid.SampledFrom([]int{1, 200, 3000, 8191, 8192, 70_000}).Draw(t, "size"),
		}
	})
	return rapid.SliceOfN(one, 1, 25)
}

func perform(db *bolt.DB, list []action) error {
	ctx := context.Background()
	for _, a := range list {
		var err error
		switch a.kind {
		case "create":
			err = conformance.Made(db.CreatePush(ctx, newPush(a.push), make([]byte, a.size), record.Entry{Kind: record.EntryCreation}))
		case "account":
			_, err = cold.CreateAccount(ctx, db, record.Account{Email: fmt.Sprint(a.push, a.size)}, conformance.Told)
		default:
			_, err = db.Change(ctx, id(a.push), map[string]record.Rule{"view": view, "end": expire, "purge": purge}[a.kind])
		}
		if err != nil && !errors.Is(err, record.ErrExists) && !errors.Is(err, record.ErrNotFound) && !errors.Is(err, errEnded) {
			return err
		}
	}
	return nil
}

var errEnded = errors.New("it has ended")

func expire(p record.Push) (record.Push, record.Entry, error) {
	if !p.Live() {
		return p, record.Entry{}, errEnded
	}
	p.State, p.Wrap, p.ExpiredAt = record.Expired, nil, time.UnixMilli(1).UTC()
	return p, record.Entry{}, nil
}

// quick opens a new database that syncs nothing.
func quick(t *testing.T) *bolt.DB {
	t.Helper()
	db := open(t, bolt.Options{Path: filepath.Join(t.TempDir(), "pushbox.db")})
	db.NoSync()
	return db
}

func TestCompactionsChangeNoRowWhateverRunsBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		before, between := actions().Draw(r, "before"), actions().Draw(r, "between")
		bounds := bolt.Bounds{
			Batch:    1 << 20,
			Rows:     rapid.IntRange(1, 4).Draw(r, "rows"),
			Unsynced: 1 << 20,
			Pending:  rapid.SampledFrom([]int64{0, 300, 1 << 20}).Draw(r, "pending"),
			Behind:   rapid.SampledFrom([]int64{0, 1 << 20}).Draw(r, "behind"),
			Rest:     1 << 20,
		}
		plain, compacted := quick(t), quick(t)
		for _, err := range []error{
			perform(plain, before), perform(compacted, before), perform(plain, between),
			compacted.CompactWith(t.Context(), bolt.CompactOptions{Bounds: &bounds, Progress: func(done, total int64) {
				n := len(between)
				if done < total && n > 0 {
					n = rapid.IntRange(0, min(2, n)).Draw(r, "now")
				}
				if err := perform(compacted, between[:n]); err != nil {
					t.Error(err)
				}
				between = between[n:]
			}}),
		} {
			if err != nil {
				r.Fatal(err)
			}
		}
		plain.FoldJournal(t)
		compacted.FoldJournal(t)
		if !maps.Equal(plain.Rows(t), compacted.Rows(t)) {
			r.Error("the rows are not those of a database that was not compacted")
		}
		closeDB(t, plain)
		closeDB(t, compacted)
	})
}

func TestAPushThatGoesAndComesBackIsCopiedWheneverItDoes(t *testing.T) {
	t.Parallel()
	const pushes, steps = 4, 8
	bounds := &bolt.Bounds{Batch: 1 << 20, Rows: 2, Unsynced: 1 << 20, Pending: 0, Behind: 1 << 20, Rest: 1 << 20}
	db := open(t, bolt.Options{Path: newPath(t)})
	for n := range pushes {
		mustCreate(t, db, n)
	}
	for goes := range steps {
		for back := goes; back < steps; back++ {
			for n := range pushes {
				step := 0
				err := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bounds, Progress: func(_, _ int64) {
					if step == goes {
						if _, err := db.Change(t.Context(), id(n), purge); err != nil {
							t.Error(err)
						}
					}
					if step == back {
						mustCreate(t, db, n)
					}
					step++
				}})
				if err != nil || step <= back || !has(t, db, n) {
					t.Fatalf("push %d, gone at step %d, back at %d of %d: %v", n, goes, back, step, err)
				}
			}
		}
	}
}

func TestTheEngineConformsWhileItIsCompactedOverAndOver(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) record.Engine {
		db := openNew(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			n := 0
			for ; err == nil || errors.Is(err, record.ErrBusy); n++ {
				err = db.CompactWith(context.Background(), bolt.CompactOptions{Bounds: bolt.TinyBounds()})
			}
			if !errors.Is(err, record.ErrClosed) {
				t.Errorf("compaction %d: %v", n, err)
			}
		})
		t.Cleanup(wg.Wait) // after the suite has closed the engine
		return db
	})
}

func TestALongReaderReadsOnInTheFileThatWasReplaced(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	rows := db.Rows(t)
	begun, more, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Look(t.Context(), func(b *bbolt.Tx) error {
			close(begun)
			<-more
			n := 0
			err := b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
				return bucket.ForEach(func(k, v []byte) error {
					n++
					if rows[string(name)+"/"+string(k)] != string(v) {
						return errors.New("a row has changed")
					}
					return nil
				})
			})
			if want := len(rows) - len(db.Buckets()); err == nil && n != want {
				err = fmt.Errorf("%d rows of %d", n, want)
			}
			return err
		})
	}()
	<-begun
	for n := range 5 {
		mustCompact(t, db)
		mustCreate(t, db, n)
		if !has(t, db, n) {
			t.Errorf("push %d is not there", n)
		}
		conformance.CheckClean(t, db)
	}
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		t.Fatalf("closed while the reader was reading: %v", err)
	default:
	}
	close(more)
	if err := errors.Join(<-ended, <-closed); err != nil {
		t.Error(err)
	}
}

func TestChecksFindNothingAcrossCompactions(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filled(t)})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 20 {
				conformance.CheckClean(t, db)
			}
		})
	}
	for range 20 {
		mustCompact(t, db)
	}
	wg.Wait()
}
