package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"pushbox/internal/durable"
)

// RemoveCopies removes the files that upgrades before that time have kept beside the
// file of the DB, and overwrites them. It returns how many there were. The time of such
// a file is that of its upgrade (see upgrade.date).
func (db *DB) RemoveCopies(ctx context.Context, before time.Time) (n int, err error) {
	if err := db.admit(ctx); err != nil {
		return 0, err
	}
	dir, name := filepath.Split(db.path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return 0, err
	}
	kept := regexp.MustCompile("^" + regexp.QuoteMeta(name) + `\.schema[0-9]+(-[0-9]+)?$`)
	for _, e := range entries {
		if !kept.MatchString(e.Name()) {
			continue
		}
		info, infoErr := e.Info()
		switch {
		case errors.Is(infoErr, fs.ErrNotExist): // removed meanwhile
		case infoErr != nil:
			err = errors.Join(err, infoErr)
		case info.ModTime().Before(before):
			err = errors.Join(err, durable.Scrub(filepath.Join(dir, e.Name())))
			n++
		}
	}
	if n > 0 {
		err = errors.Join(err, durable.SyncDir(filepath.Clean(dir)))
	}
	return n, err
}
