package bolt_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	berrors "go.etcd.io/bbolt/errors"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// id returns the ID of the n-th push of a test.
func id(n int) record.ID { return record.ID{0: 1, 20: byte(n >> 8), 21: byte(n)} }

func newPush(n int) record.Push {
	return record.Push{ID: id(n), Kind: record.Text, State: record.Live, ViewLimit: 3, Seq: 1, Wrap: []byte("sealed key")}
}

func create(ctx context.Context, db *bolt.DB, n int) error {
	return conformance.Made(db.CreatePush(ctx, newPush(n), []byte("sealed payload"), record.Entry{Kind: record.EntryCreation}))
}

func mustCreate(t *testing.T, db *bolt.DB, n int) {
	t.Helper()
	env.OK(t, create(t.Context(), db, n))
}

func has(t *testing.T, db *bolt.DB, n int) bool {
	t.Helper()
	_, err := conformance.Push(t.Context(), db, id(n))
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		t.Error(err)
	}
	return err == nil
}

// A gate holds the committer inside a rule until it is opened.
type gate struct {
	reached, opened chan struct{}
	once            sync.Once
}

func newGate() *gate { return &gate{reached: make(chan struct{}), opened: make(chan struct{})} }

func (g *gate) rule(p record.Push) (record.Push, record.Entry, error) {
	g.once.Do(func() { close(g.reached) })
	<-g.opened
	p.Details = []byte("through the gate")
	return p, record.Entry{}, nil
}

// hold makes the committer wait at a gate in a change of push 0. In a bubble the database must not
// erase: the eraser would wait for the committer's lock, and synctest.Wait for the eraser.
func hold(t *testing.T, db *bolt.DB) (g *gate, done chan error) {
	t.Helper()
	mustCreate(t, db, 0)
	g, done = newGate(), make(chan error, 1)
	go func() {
		_, err := db.Change(context.WithoutCancel(t.Context()), id(0), g.rule)
		done <- err
	}()
	<-g.reached
	return g, done
}

// A queued operation waits in the queue. The test asks later whether it was done.
type queued struct {
	do  func(ctx context.Context, db *bolt.DB, n int) error
	was func(t *testing.T, db *bolt.DB, n int) bool
}

var allQueued = map[string]queued{
	"a create": {create, has},
	"an upload": {func(ctx context.Context, db *bolt.DB, n int) error { return putStep(ctx, db, n, 0) }, func(t *testing.T, db *bolt.DB, n int) bool {
		ids, err := db.Orphans(t.Context(), record.ID{}, 100)
		env.OK(t, err)
		return slices.Contains(ids, id(n))
	}},
}

// eachQueued runs a test in a bubble for each such operation.
func eachQueued(t *testing.T, test func(t *testing.T, op queued)) {
	t.Helper()
	for name, op := range allQueued {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, op) })
		})
	}
}

func TestAnOperationWhoseContextEndsInTheQueueNeverBegins(t *testing.T) {
	t.Parallel()
	eachQueued(t, func(t *testing.T, op queued) {
		db := open(t, bolt.Options{Path: newPath(t), NoErase: true})
		g, done := hold(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- op.do(ctx, db, 1) }()
		synctest.Wait()
		cancel()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		close(g.opened)
		if err := <-done; err != nil {
			t.Errorf("the operation that ran: %v", err)
		}
		env.OK(t, op.do(t.Context(), db, 2)) // the queue before it is done
		if op.was(t, db, 1) || !op.was(t, db, 2) {
			t.Error("the operation ran although its caller had left")
		}
	})
}

func TestAnOperationThatBeganIsWaitedFor(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	mustCreate(t, db, 0)
	g := newGate()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := db.Change(ctx, id(0), g.rule)
		done <- err
	}()
	<-g.reached
	cancel()
	close(g.opened)
	if err := <-done; err != nil {
		t.Errorf("an operation that succeeded returned %v", err)
	}
	if p, err := conformance.Push(t.Context(), db, id(0)); err != nil || p.Details == nil {
		t.Errorf("its change is not there: %v", err)
	}
}

func TestCloseWaitsForWhatRunsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	eachQueued(t, func(t *testing.T, op queued) {
		path := newPath(t)
		db := open(t, bolt.Options{Path: path, NoErase: true})
		g, done := hold(t, db)
		const waiting = 20
		answers := make(chan error, waiting)
		for n := range waiting {
			go func() { answers <- op.do(t.Context(), db, 1+n) }()
		}
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		close(g.opened)
		env.OK(t, errors.Join(<-done, <-closed))
		kept, found := 0, 0
		for range waiting {
			switch err := <-answers; {
			case err == nil:
				kept++
			case !errors.Is(err, record.ErrClosed):
				t.Errorf("got error %v", err)
			}
		}
		again := open(t, bolt.Options{Path: path})
		for n := range waiting {
			if op.was(t, again, 1+n) {
				found++
			}
		}
		if found != kept {
			t.Errorf("%d were acknowledged, %d are there", kept, found)
		}
	})
}

func TestOperationsThatWaitShareACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, operationsThatWaitShareACommit)
}

func operationsThatWaitShareACommit(t *testing.T) {
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true})
	const waiting = 100
	before := db.TxID(t)
	g, done := hold(t, db)
	var wg sync.WaitGroup
	for n := range waiting {
		wg.Go(func() {
			if err := create(t.Context(), db, 1+n); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait()
	close(g.opened)
	wg.Wait()
	<-done
	if commits := db.TxID(t) - before; commits > 5 {
		t.Errorf("%d operations that waited took %d commits", waiting, commits)
	}
}

func TestAFailingOperationIsRemovedFromItsBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, aFailingOperationIsTakenOutOfItsBatch)
}

func aFailingOperationIsTakenOutOfItsBatch(t *testing.T) {
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true})
	g, done := hold(t, db)
	const waiting = 60
	var wg sync.WaitGroup
	for n := range waiting {
		wg.Go(func() {
			if n%3 == 0 { // bbolt has no empty keys, so this fails after the ID was assigned
				if _, err := cold.CreateAccount(t.Context(), db, record.Account{}, conformance.Told); !errors.Is(err, berrors.ErrKeyRequired) {
					t.Errorf("got error %v", err)
				}
				return
			}
			if err := create(t.Context(), db, 1+n); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait()
	close(g.opened)
	wg.Wait()
	<-done
	for n := range waiting {
		if n%3 != 0 && !has(t, db, 1+n) {
			t.Errorf("push %d is missing", 1+n)
		}
	}
	first, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told)
	if err != nil || first != 1 {
		t.Errorf("the failed operations left a trace: account %d, error %v", first, err)
	}
}

func TestABatchThatWritesNothingIsNotCommitted(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t), NoErase: true}) // the eraser makes commits of its own
	mustCreate(t, db, 0)
	before := db.TxID(t)
	for range 10 {
		if _, err := db.Change(t.Context(), id(0), func(p record.Push) (record.Push, record.Entry, error) {
			return p, record.Entry{}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if after := db.TxID(t); after != before {
		t.Errorf("%d commits for nothing", after-before)
	}
}
