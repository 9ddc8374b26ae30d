package bolt

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// waiting is a DB without a committer, with waiting operations of these sizes. Bulk
// operations stay in their queue until the test ends, as their callers do.
func waiting(ctx context.Context, small, bulk []int) *DB {
	db := &DB{journal: newJournal(), queue: make(chan *op, queueLen), bulk: make(chan *op), closing: make(chan struct{}), failed: make(chan struct{})}
	for _, n := range small {
		db.queue <- &op{ctx: ctx, bytes: n, cost: n, done: make(chan struct{}, 1)}
	}
	for _, n := range bulk {
		go func() {
			select {
			case db.bulk <- &op{ctx: ctx, bytes: n, cost: n, done: make(chan struct{}, 1)}:
			case <-ctx.Done():
			}
		}()
	}
	synctest.Wait()
	return db
}

func many(n, bytes int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = bytes
	}
	return list
}

// A commit takes all small operations that wait, and a share of the bulk: no more than
// that, even if there is nothing else to do.
func TestACommitTakesNoMoreBulkThanItsShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		small, bulk []int
		batches     []int // how many operations each takes
	}{
		"small ones alone":         {many(200, 500), nil, []int{200}},
		"bulk beside many":         {many(200, 500), many(5, maxBulkBytes/2), []int{202, 1, 1, 1}},
		"bulk beside some":         {many(8, 500), many(6, 2*bulkPerOp), []int{12, 2}},
		"bulk beside one":          {many(1, 500), many(6, minBulkBytes/2), []int{3, 4}},
		"bulk after others":        {nil, many(calmCommits+3, maxBulkBytes/2), append(many(calmCommits, 1), 2, 1)},
		"bulk of just the share":   {many(3, 500), many(3, maxBulkBytes), []int{4, 1, 1}},
		"bulk of a byte less":      {many(200, 500), many(4, maxBulkBytes-1), []int{202, 1, 1}},
		"bulk of much more":        {many(3, 500), many(3, 9*maxBulkBytes), []int{4, 1, 1}},
		"bulk without bytes":       {many(3, 500), many(50, 0), []int{53}},
		"more small ones than fit": {many(40, maxBatchBytes/16), many(2, maxBulkBytes), []int{17, 17, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				db := waiting(ctx, c.small, c.bulk)
				var got []int
				for left := len(c.small) + len(c.bulk); left > 0 && db.gather(); left -= len(db.batch) {
					got = append(got, len(db.batch))
					synctest.Wait()
				}
				if !slices.Equal(got, c.batches) {
					t.Errorf("batches of %v, want %v", got, c.batches)
				}
			})
		})
	}
}

func TestBulkWhoseCallerLeftTakesNoShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		db := waiting(ctx, many(1, 500), nil)
		for i := range 4 {
			o := &op{ctx: ctx, bytes: maxBulkBytes, cost: maxBulkBytes, done: make(chan struct{}, 1)}
			if i < 3 {
				o.state.Store(opWithdrawn)
			}
			go func() {
				select {
				case db.bulk <- o:
				case <-ctx.Done():
				}
			}()
		}
		synctest.Wait()
		if !db.gather() || len(db.batch) != 2 {
			t.Errorf("%d operations were taken, want the small one and one of bulk", len(db.batch))
		}
	})
}

func chunkOps(n int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = []byte("chunk")
	}
	return list
}

// An engine that runs an operation again, because another of its batch failed,
// keeps the same chunks.
func TestChunksAreKeptOnceWhereTheirBatchRunsAgain(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	id, runs := testPush(1).ID, 0
	refusal := errors.New("no")
	bad := &op{ctx: t.Context(), done: make(chan struct{}, 1), run: func(t *tx) error {
		runs++
		return errors.Join(t.put(orphans, []byte("row to undo"), nil), refusal)
	}}
	put := &op{ctx: t.Context(), done: make(chan struct{}, 1), run: func(t *tx) error {
		runs++
		return errors.Join(t.put(orphans, id[:], nil), t.put(chunks, chunkKey(id, 0, 0), []byte("chunk")))
	}}
	if !db.commit([]*op{put, bad}) || put.err != nil || !errors.Is(bad.err, refusal) || runs != 3 {
		t.Fatalf("errors %v and %v, %d runs", put.err, bad.err, runs)
	}
	if got, err := db.Orphans(t.Context(), record.ID{}, 9); err != nil || len(got) != 1 || got[0] != id {
		t.Errorf("orphans %v, error %v", got, err)
	}
	if p := problems(t, db); len(p) != 0 {
		t.Errorf("check: %q", p)
	}
}

func TestFreeingTakesNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	id := testPush(1).ID
	env.OK(t, db.PutChunks(t.Context(), id, 0, 0, chunkOps(10)))
	for _, c := range []struct {
		limit, left int
		more        bool
	}{{0, 10, true}, {1, 9, true}, {4, 5, true}, {5, 0, false}, {5, 0, false}} {
		more, err := db.FreeOrphans(t.Context(), id, c.limit)
		if err != nil || more != c.more {
			t.Errorf("limit %d: more %t, error %v", c.limit, more, err)
		}
		left := 0
		if err := db.view(t.Context(), func(t *tx) error {
			cur := t.cursor(chunks)
			for k, _ := cur.First(); k != nil; k, _ = cur.Next() {
				if len(k) == chunkLen || c.left == 0 { // pads go with the last chunk
					left++
				}
			}
			return nil
		}); err != nil || left != c.left {
			t.Errorf("limit %d: %d chunks are left, want %d, error %v", c.limit, left, c.left, err)
		}
	}
}

// bbolt writes a whole leaf page at a time: one that ends with chunks would be written
// again with each step.
func TestChunksAreWrittenOnce(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	const steps, perStep, size = 20, 3, 65_552
	sealed := make([][]byte, perStep)
	for i := range sealed {
		sealed[i] = make([]byte, size)
	}
	allocated := func() int64 {
		s := db.raw().Stats()
		return s.TxStats.GetPageAlloc()
	}
	before := allocated()
	for step := range steps {
		env.OK(t, db.PutChunks(t.Context(), testPush(1).ID, 0, step*perStep, sealed))
	}
	const data = steps * perStep * size
	if written := allocated() - before; written < data || written > data*13/10 {
		t.Errorf("%d bytes were written for %d", written, data)
	}
}

// A new grant looks at a few other grants, however many there are.
func TestANewGrantRemovesOnlyAFewEndedGrants(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	plantFiles(t, db)
	row := func(n int) record.Grant {
		g := plantedGrant()
		g.Digest = record.GrantDigest{0: byte(n)}
		return g
	}
	const others = 3 * maxStale
	put := &op{ctx: t.Context(), done: make(chan struct{}, 1), run: func(t *tx) (err error) {
		for n := range others {
			err = errors.Join(err, t.putGrant(row(n)))
		}
		return err
	}}
	if !db.commit([]*op{put}) || put.err != nil {
		t.Fatal(put.err)
	}
	left := others + 1 // the planted one
	for _, n := range []int{100, 200, 101} {
		g := row(n)
		g.ExpiresAt = g.ExpiresAt.Add(1e9)
		if _, err := db.Change(t.Context(), g.Push, func(p record.Push) (record.Push, record.Entry, error) {
			p.GrantsEnd = g.ExpiresAt
			return p, record.Entry{Grant: &record.NewGrant{Grant: g, Ended: plantedGrant().ExpiresAt}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		// The other live grants, which are older, are looked at and stay.
		if now := count(t, db, grants); now >= left+1 || now < left+1-maxStale {
			t.Errorf("of %d grants and a new one %d are left", left, now)
		} else {
			left = now
		}
	}
	if rows := count(t, db, grantPushes); rows != left {
		t.Errorf("%d grants and %d rows", left, rows)
	}
}

func count(t *testing.T, db *DB, b bucket) (n int) {
	t.Helper()
	env.OK(t, db.view(t.Context(), func(t *tx) error {
		cur := t.cursor(b)
		for k, _ := cur.First(); k != nil; k, _ = cur.Next() {
			n++
		}
		return nil
	}))
	return n
}
