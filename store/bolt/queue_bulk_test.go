package bolt_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestAGrantRuleThatChangesNothingIsNotCommitted(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true}) // the eraser makes commits of its own
	env.OK(t, db.PutChunks(t.Context(), id(0), 0, 0, [][]byte{[]byte("chunk")}))
	p, g := newPush(0), record.Grant{Push: id(0), ExpiresAt: time.UnixMilli(5).UTC()}
	p.Kind, p.Files, p.Stored = record.File, []byte("list"), 5
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("sealed payload"), record.Entry{Kind: record.EntryCreation})))
	if _, err := db.Change(t.Context(), id(0), func(p record.Push) (record.Push, record.Entry, error) {
		p.GrantsEnd = g.ExpiresAt
		return p, record.Entry{Grant: &record.NewGrant{Grant: g}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	before := db.TxID(t)
	for range 10 {
		if _, err := db.ChangeGrant(t.Context(), g.Digest, func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
			return p, g, true
		}); err != nil {
			t.Fatal(err)
		}
		if more, err := db.FreeOrphans(t.Context(), id(0), 9); more || err != nil {
			t.Fatalf("more: %t, error %v", more, err)
		}
	}
	if after := db.TxID(t); after != before {
		t.Errorf("%d commits for nothing", after-before)
	}
}

// putStep stores a chunk as large as a step of an upload.
func putStep(ctx context.Context, db *bolt.DB, n, step int) error {
	return db.PutChunks(ctx, id(n), 0, step, [][]byte{make([]byte, 600<<10)})
}

func TestUploadsThatWaitAreSpreadOverCommitsAndSmallOnesAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, uploadsThatWaitAreSpreadOverCommitsAndSmallOnesAreNot)
}

func uploadsThatWaitAreSpreadOverCommitsAndSmallOnesAreNot(t *testing.T) {
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true})
	const uploads, small = 12, 200
	g, done := hold(t, db)
	before := db.TxID(t)
	var wg sync.WaitGroup
	for n := range uploads + small {
		wg.Go(func() {
			var err error
			if n < uploads {
				err = putStep(t.Context(), db, 1000+n, 0)
			} else {
				err = create(t.Context(), db, n)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait()
	close(g.opened)
	wg.Wait()
	<-done
	// The upload at the gate, and a step of each of the others.
	if commits := db.TxID(t) - before; commits < uploads || commits > 1+uploads {
		t.Errorf("%d uploads that waited took %d commits", uploads, commits)
	}
	ids, err := db.Orphans(t.Context(), record.ID{}, 100)
	if err != nil || len(ids) != uploads {
		t.Errorf("%d uploads are there, error %v", len(ids), err)
	}
}
