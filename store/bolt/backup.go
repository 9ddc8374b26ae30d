package bolt

import (
	"context"
	"errors"
	"os"

	"pushbox/store"
)

// Backup makes a copy of all that the file holds at one instant, without what was
// deleted, and opens it. Reads and writes go on as beside Compact, whose bounds,
// errors and needs of room are the same; only one of the two runs at a time.
//
// The copy has mode 0600, is on the disk, and lies beside path under a temporary
// name, which durable.RemoveLeftovers(path) finds; an empty path stands for that of
// the database itself. Whoever asked for it closes the copy, and moves its file
// away or removes it. After an error there is none.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int64)) (_ store.Engine, temp string, err error) {
	c := newBackup(ctx, db, path, progress)
	if err := db.copyTo(c); err != nil {
		return nil, "", err
	}
	c.report(c.total, c.total)
	opened, err := open(Options{Path: c.temp})
	if err != nil {
		return nil, "", errors.Join(err, os.Remove(c.temp))
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
	c.prepare = func(*os.File) error { return nil } // it is its maker's
	c.finish = c.leave
	return c
}

// leave makes the complete copy a file of its own, that nobody else has open.
func (c *compaction) leave() error {
	if err := c.to.close(); err != nil {
		return err
	}
	c.db.changes, c.kept = nil, true
	return nil
}
