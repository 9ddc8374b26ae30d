package bolt

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	queueLen      = 1024     // operations that wait without blocking their callers
	maxBatchOps   = 1024     // operations in a commit
	maxBatchBytes = 16 << 20 // payload in a commit
	maxYields     = 1        // times to yield to other goroutines without a new operation
	maxBulkBytes  = 1 << 20  // bytes of bulk in a commit; with more, other operations would wait for the disk
	minBulkBytes  = 256 << 10
	bulkPerOp     = 64 << 10 // bytes of bulk that a commit takes for each other operation
	calmCommits   = 16       // commits without other operations, after which none is expected soon
)

// The states of an op.
const (
	opWaiting   = iota
	opBegun     // it runs, and its caller waits for the outcome
	opWithdrawn // its caller left
)

// An op is an operation in the committer's queue.
type op struct {
	ctx   context.Context
	run   func(*tx) error // may run several times, and decides before it writes
	bytes int             // bytes of payload that it adds
	cost  int             // approximate bytes that a commit writes for it
	state atomic.Int32
	wrote bool // in the attempt that counts
	err   error
	done  chan struct{} // takes one value when err is final
}

// do passes an operation to the committer, and returns when its outcome is on the disk. If ctx ends
// before the operation begins, it never runs.
func (db *DB) do(ctx context.Context, bytes int, run func(*tx) error) error {
	return db.doBy(ctx, db.queue, bytes, bytes, run)
}

// doBulk is do for operations that write much data: each commit takes a few, by their
// cost.
func (db *DB) doBulk(ctx context.Context, bytes, cost int, run func(*tx) error) error {
	return db.doBy(ctx, db.bulk, bytes, cost, run)
}

func (db *DB) doBy(ctx context.Context, queue chan *op, bytes, cost int, run func(*tx) error) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	o := db.ops.Get().(*op)
	o.ctx, o.run, o.bytes, o.cost = ctx, run, bytes, cost
	o.state.Store(opWaiting)
	select {
	case queue <- o:
		return db.wait(o)
	case <-ctx.Done():
		return ctx.Err()
	case <-db.stopped:
		return db.refusal()
	}
}

// wait returns the outcome of an op in the queue. An op whose caller left is not reused, because
// the committer may still read it.
func (db *DB) wait(o *op) error {
	ended := o.ctx.Done()
	for {
		select {
		case <-o.done:
			return db.recycle(o)
		case <-ended:
			if o.state.CompareAndSwap(opWaiting, opWithdrawn) {
				return o.ctx.Err()
			}
			ended = nil // the op has begun
		case <-db.stopped:
			select {
			case <-o.done:
				return db.recycle(o)
			default:
				return db.refusal()
			}
		}
	}
}

func (db *DB) recycle(o *op) error {
	err := o.err
	o.ctx, o.run, o.err = nil, nil, nil
	db.ops.Put(o)
	return err
}

// commitLoop is the committer. It ends with Close, or when the DB has failed.
func (db *DB) commitLoop() {
	defer close(db.stopped)
	defer db.idleTimer.Stop()
	defer db.foldEnds()
	for db.gather() {
		idle := len(db.batch) == 0
		w := db.nextJournalWork()
		if w != nil {
			db.batch = append(db.batch, &w.op)
		}
		if !db.commit(db.batch) {
			return
		}
		switch {
		case w != nil:
			<-w.done // the op has been answered
			db.journalWorkDone(w)
		case idle:
			db.releaseMemory()
		}
	}
}

// bulkShare is how many bytes of bulk a commit takes along with other operations. With few
// operations, bulk would delay them more. Even with none the share is limited, because an operation
// may arrive and must wait for the whole commit.
func (db *DB) bulkShare(others int) int {
	if others > 0 {
		db.onlyBulk = 0
		return min(maxBulkBytes, max(minBulkBytes, bulkPerOp*others))
	}
	if db.onlyBulk++; db.onlyBulk <= calmCommits {
		return maxBulkBytes / 2
	}
	return maxBulkBytes
}

// gather waits for an operation and takes all that wait with it, but of bulk only bulkShare. It
// first yields to callers that were just answered, so that their next operations share the commit.
// It reports false when the DB is closing or has failed. The batch stays empty if only the journal
// has work.
func (db *DB) gather() bool {
	clear(db.batch)
	db.batch = db.batch[:0]
	bytes, bulk, bulkOps := 0, 0, 0
	var idle <-chan time.Time
	if wait := db.idleWait(); wait > 0 {
		db.idleTimer.Reset(wait)
		idle = db.idleTimer.C
	}
	select {
	case <-idle:
		return true
	case <-db.closing:
		return false
	case <-db.failed:
		return false
	case o := <-db.queue:
		bytes += db.begin(o)
	case o := <-db.bulk:
		bulk += db.begin(o)
		bulkOps = len(db.batch)
	}
	for yields := 0; yields <= maxYields && len(db.batch) < maxBatchOps && bytes < maxBatchBytes; {
		select {
		case o := <-db.queue:
			bytes += db.begin(o)
			yields = 0
		default:
			runtime.Gosched()
			yields++
		}
	}
	share := db.bulkShare(len(db.batch) - bulkOps)
	for bulk < share {
		select {
		case o := <-db.bulk:
			bulk += max(1, db.begin(o))
		default:
			return true
		}
	}
	return true
}

// begin takes an op into the batch, unless its caller has left, and returns its cost.
func (db *DB) begin(o *op) int {
	if !o.state.CompareAndSwap(opWaiting, opBegun) {
		return 0
	}
	if err := o.ctx.Err(); err != nil {
		o.answer(err)
		return 0
	}
	db.batch = append(db.batch, o)
	return o.cost
}

func (o *op) answer(err error) {
	o.err = err
	o.done <- struct{}{}
}
