package bolt

import (
	"context"
	"errors"
	"os"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// Backup makes a copy of all that the file holds at one instant, without what was
// deleted, and opens it. Reads and writes continue; bounds, errors and the space needed
// are those of Compact, and only one of the two runs at a time.
//
// The copy has mode 0600, is on the disk, and lies beside path under a temporary name, which
// durable.RemoveLeftovers(path) finds; an empty path means the path of the database. The caller
// closes the copy, and moves or removes its file. After an error there is no copy.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int64)) (_ record.Engine, temp string, err error) {
	c := newBackup(ctx, db, path, progress)
	if err := db.copyTo(c); err != nil {
		return nil, "", err
	}
	c.report(c.total, c.total)
	opened, err := open(Options{Path: c.temp})
	if err != nil {
		return nil, "", errors.Join(err, durable.Scrub(c.temp))
	}
	opened.start()
	return opened, c.temp, nil
}

func newBackup(ctx context.Context, db *DB, path string, progress func(done, total int64)) *compaction {
	c := newCompaction(ctx, db, progress)
	c.what = "back up"
	if path != "" {
		c.path = path
	}
	c.prepare = func(*os.File) error { return nil } // the file belongs to the process that makes it
	c.finish = c.leave
	return c
}

// leave closes the complete copy, so that the caller can open its file.
func (c *compaction) leave() error {
	c.to.bolt.NoSync = false
	if err := c.to.closeAfter(func(h *handle) error { return h.eraseRest(restWindow + c.db.slack) }); err != nil {
		return err
	}
	c.db.changes, c.kept = nil, true
	return nil
}
