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
	"pushbox/store"
)

// copyReserve is how much of the file system must stay free beside a copy.
const copyReserve = 32 << 20

// bounds of a compaction, in bytes where nothing else is said.
type bounds struct {
	batch, rows int           // copied in one transaction; rows is a number
	unsynced    int64         // written to the copy between two syncs
	pending     int64         // written by others, or memory to remember it, before that is copied again
	behind      int64         // of that, from what on others have to wait
	hold        time.Duration // for how long at a time
	rest        int64         // of that, what may be left to copy while all writers wait
	maxRest     int64         // the same where it is written as fast as it is copied, and rest grows from round to round
	rounds      int           // number of them
}

// usualBounds keep the time small for which others have to wait: for a
// transaction of the copy to be read, and for the disk while the copy is synced.
func usualBounds() bounds {
	return bounds{
		batch: 2 << 20, rows: 2048, unsynced: 2 << 20,
		pending: 8 << 20, behind: 16 << 20, hold: 100 * time.Millisecond, rest: 256 << 10, maxRest: 16 << 20, rounds: 24,
	}
}

// A compaction copies the rows of one file to another, which takes the place of
// the first, or is a backup of it.
type compaction struct {
	ctx      context.Context
	db       *DB
	what     string // for people
	path     string // of whose name and directory the copy is until it is complete
	bounds   bounds
	from, to *handle
	temp     string        // the name of the copy until then
	kept     bool          // the copy is complete, and what it is to be
	gone     chan struct{} // closed when the old file is, and its room is free
	changes  *changes
	prepare  func(*os.File) error // the new file, before anything is in it
	finish   func() error         // makes the complete copy what it is to be, while nobody writes
	replace  func(temp, path string) (bool, error)
	free     freeSpace
	report   func(done, total int64)

	at       position
	batch    batch
	unsynced int64 // bytes written to the copy since it was synced
	done     int64 // bytes copied
	total    int64
}

// Compact copies what the file holds to a new one, which then takes its place.
// Reads and writes go on; writers wait for some milliseconds at the end, and for
// a tenth of a second now and then where they write more than can be copied
// meanwhile. It gives up with store.ErrBusy where even that is not enough, and
// with store.ErrCorrupt where it meets a damaged page. When it returns nil, the
// new file has the name; the old one's room is free when its last reader has
// left it. After an error nothing has changed, unless the DB has failed.
func (db *DB) Compact(ctx context.Context, progress func(done, total int64)) error {
	return db.compact(newCompaction(ctx, db, progress))
}

func newCompaction(ctx context.Context, db *DB, progress func(done, total int64)) *compaction {
	c := &compaction{
		ctx: ctx, db: db, what: "compact", path: db.path, bounds: usualBounds(),
		replace: durable.Replace, free: freeBytes, report: progress,
	}
	c.prepare = func(f *os.File) error { return inherit(f, c.from.file) }
	c.finish = c.swap
	return c
}

func (db *DB) compact(c *compaction) error {
	if err := db.copyTo(c); err != nil {
		return err
	}
	c.awaitRoom()
	c.report(c.total, c.total)
	return nil
}

// copyTo makes the copy that c is for, if no other is being made.
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
		return fmt.Errorf("%w: a compaction or a backup is running", store.ErrBusy)
	}
	if err := c.run(); err != nil {
		return fmt.Errorf("%s: %w", c.what, c.explain(err))
	}
	return nil
}

// run makes the copy and removes it again where that does not end well.
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

// lastReaders is how long a compaction waits for those who still read the old
// file, so that its room is free in most cases when it returns.
const lastReaders = time.Second

func (c *compaction) awaitRoom() {
	t := time.NewTimer(lastReaders)
	defer t.Stop()
	select {
	case <-c.gone:
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// record has the committer note what it writes from now on.
func (c *compaction) record(n *changes) {
	c.db.writing.Lock()
	defer c.db.writing.Unlock()
	c.changes, c.db.changes = n, n
}

// create makes the file that is to become the copy. It is locked from the first
// moment, so that it is never there under the name without a lock.
func (c *compaction) create() error {
	f, err := os.CreateTemp(filepath.Dir(c.path), durable.TempPattern(c.path))
	if err != nil {
		return err
	}
	c.temp = f.Name()
	if err = errors.Join(c.prepare(f), f.Close()); err == nil {
		c.to, err = openCopy(c.temp)
	}
	if err != nil {
		return errors.Join(err, os.Remove(c.temp))
	}
	return nil
}

// discard removes the copy, unless it has another name already.
func (c *compaction) discard() error {
	err := os.Remove(c.temp)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, c.to.close())
}

// proceed returns an error when the compaction is to end early.
func (c *compaction) proceed() error { return c.db.admit(c.ctx) }

// advance reports progress.
func (c *compaction) advance(n int64) {
	c.done += n
	c.total = max(c.total, c.done)
	c.report(c.done, c.total)
}

// explain makes a lack of room the error that it is.
func (c *compaction) explain(err error) error {
	if noRoom(err) && !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("%w: the copy needs up to %s: %w", store.ErrFull, mebibytes(c.total+copyReserve), err)
	}
	return err
}
