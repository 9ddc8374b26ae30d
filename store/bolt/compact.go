package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pushbox/internal/durable"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// copyReserve is how much of the file system must stay free beside a copy.
const copyReserve = 32 << 20

// bounds are those of a compaction, in bytes except where a field says otherwise.
type bounds struct {
	batch, rows int           // copied in one transaction; rows is a number
	unsynced    int64         // written to the copy between two syncs
	pending     int64         // written by commits, or memory to remember it, before that is copied again
	behind      int64         // of pending, at which commits have to wait
	hold        time.Duration // how long they wait at a time
	rest        int64         // of pending, the most to copy while all commits wait
	maxRest     int64         // how far rest may grow, round by round, if commits write as fast as the compaction copies
	rounds      int           // number of rounds
}

// usualBounds keep the waits of commits short: for reads of the compaction, and for the disk while
// the copy is synced.
func usualBounds() bounds {
	return bounds{
		batch: 2 << 20, rows: 2048, unsynced: 2 << 20,
		pending: 8 << 20, behind: 16 << 20, hold: 100 * time.Millisecond, rest: 256 << 10, maxRest: 16 << 20, rounds: 24,
	}
}

// A compaction copies the rows of one file to another, which then takes the place of
// the first, or is a backup of it.
type compaction struct {
	ctx      context.Context
	db       *DB
	what     string // for people
	path     string // the copy lies beside it, under a temporary name made from its name
	bounds   bounds
	from, to *handle
	temp     string        // the temporary name
	kept     bool          // the copy is complete and must not be removed
	gone     chan struct{} // closed when the old file is closed and its space is free
	changes  *changes
	prepare  func(*os.File) error // prepares the new file while it is empty
	finish   func() error         // installs the complete copy, while no commit runs
	replace  func(temp, path string) (bool, error)
	free     freeSpace
	report   func(done, total int64)

	add      func(t *tx, b bucket, key, value []byte) error // adds a row of the file to the batch
	at       position
	batch    batch
	unsynced int64 // bytes written to the copy since it was synced
	done     int64 // bytes copied
	total    int64
}

// Compact copies the rows of the file to a new one, which then takes its place. Reads and writes
// continue. Writers wait for some milliseconds at the end, and now and then for a tenth of a second
// if they write faster than the compaction copies. If even that is not enough Compact returns
// record.ErrBusy; on a damaged page it returns record.ErrCorrupt. When it returns nil, the new file
// has the name; the space of the old one is free once its last reader has left. After an error
// nothing has changed, unless the DB has failed.
func (db *DB) Compact(ctx context.Context, progress func(done, total int64)) error {
	return db.compact(newCompaction(ctx, db, progress))
}

func newCompaction(ctx context.Context, db *DB, progress func(done, total int64)) *compaction {
	c := &compaction{
		ctx: ctx, db: db, what: "compact", path: db.path, bounds: usualBounds(),
		replace: durable.Replace, free: durable.FreeSpace, report: progress,
	}
	c.prepare = func(f *os.File) error { return durable.Inherit(f, c.from.file) }
	c.finish = c.swap
	c.add = func(t *tx, b bucket, key, value []byte) error { return c.batch.add(t, b, key, value) }
	return c
}

func (db *DB) compact(c *compaction) error {
	if err := db.copyTo(c); err != nil {
		return err
	}
	c.awaitRelease()
	c.report(c.total, c.total)
	return nil
}

// foldWait is how long a copy waits until the journal is folded, which takes less than
// that unless the disk is full.
const foldWait = 2 * time.Second

// foldBefore folds the present ends in the journal. Otherwise a copy would have the payloads that
// they destroy.
func (db *DB) foldBefore(ctx context.Context) error {
	until, done := uint64(0), false
	for end := time.Now().Add(foldWait + db.slack); !done && time.Now().Before(end); time.Sleep(time.Millisecond) {
		err := db.do(ctx, 0, func(t *tx) error {
			j := t.journal
			if until == 0 {
				until = j.next
			}
			if done = !j.hasEnds() || j.first >= until; !done && !j.endsDue.IsZero() {
				j.endsDue = time.Now()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTo makes the copy of c, if no other is being made.
func (db *DB) copyTo(c *compaction) error {
	if err := db.admit(c.ctx); err != nil {
		return err
	}
	select {
	case db.compacting <- struct{}{}:
		defer func() { <-db.compacting }()
	default:
		if err := db.refusal(); err != nil {
			return err
		}
		return fmt.Errorf("%w: a compaction or a backup is running", record.ErrBusy)
	}
	if err := db.foldBefore(c.ctx); err != nil {
		return err
	}
	if err := c.run(); err != nil {
		return fmt.Errorf("%s: %w", c.what, c.explain(err))
	}
	return nil
}

// run makes the copy, and removes it after an error.
func (c *compaction) run() (err error) {
	c.from, c.gone = c.db.current.Load(), make(chan struct{})
	if err := c.measure(); err != nil {
		return err
	}
	if err := c.create(); err != nil {
		return err
	}
	defer func() {
		if !c.kept {
			c.record(nil)
			err = errors.Join(err, c.discard())
		}
	}()
	c.batch = newBatch(c.bounds.batch)
	c.record(newChanges())
	if err := c.copyAll(); err != nil {
		return err
	}
	return c.catchUp()
}

// lastReaders is how long a compaction waits for the last readers of the old file, so
// that in most cases its space is free when Compact returns.
const lastReaders = time.Second

func (c *compaction) awaitRelease() {
	t := time.NewTimer(lastReaders)
	defer t.Stop()
	select {
	case <-c.gone:
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// record makes the committer record its writes in n; nil ends that.
func (c *compaction) record(n *changes) {
	c.db.writing.Lock()
	defer c.db.writing.Unlock()
	c.changes, c.db.changes = n, n
}

// create makes the file for the copy. It is locked from the first moment, so that the
// name never refers to an unlocked file.
func (c *compaction) create() error {
	f, err := os.CreateTemp(filepath.Dir(c.path), durable.TempPattern(c.path))
	if err != nil {
		return err
	}
	c.temp = f.Name()
	if err = errors.Join(c.prepare(f), f.Close()); err == nil {
		c.to, err = openCopy(c.temp)
	}
	if err == nil {
		c.to.keys = &c.db.keys // it may become the DB's file
	}
	if err != nil {
		return errors.Join(err, os.Remove(c.temp)) // it has no row yet
	}
	return nil
}

// discard removes the copy, unless the copy is in use under another name.
func (c *compaction) discard() error {
	err := os.Remove(c.temp) // and closing overwrites it
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, c.to.closeAfter((*handle).scrub))
}

// interrupted returns an error when the compaction must end early.
func (c *compaction) interrupted() error { return c.db.alive(c.ctx) }

// advance reports progress.
func (c *compaction) advance(n int64) {
	c.done += n
	c.total = max(c.total, c.done)
	c.report(c.done, c.total)
}

// explain returns record.ErrFull for an error of a full disk.
func (c *compaction) explain(err error) error {
	if diskFull(err) && !errors.Is(err, record.ErrFull) {
		return fmt.Errorf("%w: the copy needs up to %s: %w", record.ErrFull, humanize.Size(c.total+copyReserve), err)
	}
	return err
}
