package bolt_test

import (
	"context"
	"errors"
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

func TestAnUploadWhoseContextEndsInTheQueueNeverBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, anUploadWhoseContextEndsInTheQueueNeverBegins)
}

func anUploadWhoseContextEndsInTheQueueNeverBegins(t *testing.T) {
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true})
	g, done := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() { answer <- putStep(ctx, db, 1, 0) }()
	synctest.Wait()
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	close(g.opened)
	if err := <-done; err != nil {
		t.Errorf("the operation that ran: %v", err)
	}
	if err := putStep(t.Context(), db, 2, 0); err != nil {
		t.Error(err)
	}
	if ids, err := db.Orphans(t.Context(), record.ID{}, 9); err != nil || len(ids) != 1 || ids[0] != id(2) {
		t.Errorf("uploads %v, error %v", ids, err)
	}
}

func TestCloseRefusesUploadsThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, closeRefusesUploadsThatWait)
}

func closeRefusesUploadsThatWait(t *testing.T) {
	path := newPath(t)
	db := open(t, bolt.Options{Path: path, NoErase: true})
	g, done := hold(t, db)
	const waiting = 8
	answers := make(chan error, waiting)
	for n := range waiting {
		go func() { answers <- putStep(t.Context(), db, 1+n, 0) }()
	}
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	synctest.Wait()
	close(g.opened)
	env.OK(t, errors.Join(<-done, <-closed))
	kept := 0
	for range waiting {
		switch err := <-answers; {
		case err == nil:
			kept++
		case !errors.Is(err, record.ErrClosed):
			t.Errorf("got error %v", err)
		}
	}
	ids, err := open(t, bolt.Options{Path: path}).Orphans(t.Context(), record.ID{}, 100)
	if err != nil || len(ids) != kept {
		t.Errorf("%d uploads were acknowledged, %d are there, error %v", kept, len(ids), err)
	}
}
