package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A move makes one place unusable before it makes the other one usable, and each step is durable
// before the next one, so it may be interrupted at any moment:
//
// From the file to PostgreSQL all records are copied and compared in one transaction. Before its
// commit the file is renamed to pushbox.db.leaving, and after it to pushbox.db.moved. If the
// transaction does not commit, the file gets its name back. A move that finds pushbox.db.leaving
// asks PostgreSQL whether the transaction was committed, and continues.
//
// From PostgreSQL to a file the database is marked first, so that all servers refuse; then
// the file is made, as pushbox.db.arriving-N; then the mark says that move N has ended; then
// the file gets its name. A move that finds the mark continues.

// Suffixes of the database file during a move.
const (
	leavingSuffix  = ".leaving"   // its records may be in PostgreSQL
	movedSuffix    = ".moved"     // its records are in PostgreSQL
	arrivingSuffix = ".arriving-" // followed by the number of the move: its records may still be in PostgreSQL
)

// Moved is the result of a move.
type Moved struct {
	Records int64  // that were copied and compared; 0: an earlier move had copied them
	File    string // the current name of the database file
	Before  bool   // there was nothing left to do
}

// Times of a move.
const (
	moveAttempt = 30 * time.Second
	settleTime  = time.Minute     // to find out the outcome of a commit, or to remove a mark
	othersTime  = 5 * time.Second // for the end of connections, such as those of a killed process
)

// MovedFile returns the path of the database file that a move to PostgreSQL has left in the data
// directory; empty if there is none.
func MovedFile(cfg config.Config) string {
	path := Database(cfg) + movedSuffix
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// Elsewhere returns an error that says where the records of a configuration are, or may be, if
// the database that it names is empty or missing; nil if nothing points to another place.
func Elsewhere(cfg config.Config) error {
	if HasDatabaseURL(cfg) {
		return refuseFileBeside(cfg)
	}
	return refuseMoved(cfg)
}

func refuseMoved(cfg config.Config) error {
	path := Database(cfg)
	if _, err := os.Lstat(path + movedSuffix); err == nil {
		return hint.With(fmt.Errorf("the database of %s was moved to PostgreSQL, and database_url is not set", cfg.DataDir),
			"set database_url; or, to go back to a file with all later changes, set it and run `pushbox move --back`; or, to go back to the old file without them, stop all servers and rename %[1]s%[2]s to %[1]s", path, movedSuffix)
	}
	if _, err := os.Lstat(path + leavingSuffix); err == nil {
		return hint.With(fmt.Errorf("a move of the database of %s to PostgreSQL was interrupted", cfg.DataDir), "run `pushbox move` again, which continues the move")
	}
	if left, err := arriving(cfg); err != nil || len(left) == 0 {
		return err
	}
	return hint.With(fmt.Errorf("a move from PostgreSQL into %s was interrupted", cfg.DataDir),
		"set database_url and run `pushbox move --back` again; or keep PostgreSQL with `pushbox move --back --undo`")
}

// refuseFileBeside returns an error if there is a database file beside an empty PostgreSQL
// database: a server with a new store there would seem to have lost all data.
func refuseFileBeside(cfg config.Config) error {
	path := Database(cfg)
	if _, err := os.Lstat(path); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and there is a database file, %s", path),
			"run `pushbox move` to copy the file into PostgreSQL; or, to start with an empty database, move the file away")
	}
	if _, err := os.Lstat(path + leavingSuffix); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and there is %s%s: a move was interrupted", path, leavingSuffix), "run `pushbox move` again, which continues the move")
	}
	if _, err := os.Lstat(path + movedSuffix); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and the records of %s%s were moved to another database", path, movedSuffix),
			"set database_url to that database; or, to start with an empty one, move the file away")
	}
	return nil
}

func arriving(cfg config.Config) (left []string, err error) {
	entries, err := os.ReadDir(cfg.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if path := filepath.Join(cfg.DataDir, e.Name()); strings.HasPrefix(path, Database(cfg)+arrivingSuffix) {
			left = append(left, path)
		}
	}
	return left, err
}

func openMove(ctx context.Context, cfg config.Config) (*postgres.DB, error) {
	url, err := DatabaseURL(cfg)
	switch {
	case err != nil:
		return nil, err
	case url.IsZero():
		return nil, hint.With(errors.New("no PostgreSQL database is named"), "set database_url_file, or database_url, or name it in the command")
	}
	db, _, err := postgres.Open(ctx, postgres.Options{URL: url, Dir: cfg.DataDir, Moved: true, Attempt: moveAttempt})
	return db, err
}

// Move copies the database file of a configuration into the empty PostgreSQL database at
// database_url, compares the two, and renames the file, so that servers no longer use it. It
// completes an earlier Move that was interrupted.
//
// The error wraps ErrNoDatabase, record.ErrInUse if a server runs, or an error of store.Move. After
// an error the file is unchanged and has its name, unless the text says that the outcome is not
// known.
func Move(ctx context.Context, cfg config.Config, wait time.Duration, watch store.MoveWatch) (m Moved, err error) {
	f, err := moveSource(cfg)
	if err != nil {
		return m, err
	}
	key, _, err := MasterKey(cfg, true)
	if err != nil {
		return m, err
	}
	to, err := openMove(ctx, cfg)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	m.File = f.path + movedSuffix
	if f.is != f.path {
		if m.Before, err = movedBefore(ctx, to, key); err == nil && m.Before {
			return m, f.rename(m.File)
		}
		if err == nil && f.is == m.File {
			err = hint.With(fmt.Errorf("the database was moved before, and the database at database_url is empty"),
				"set database_url to the database that it was moved to; or, to repeat the move from the old file, rename %s to %s", f.is, f.path)
		}
		if err != nil {
			return m, err
		}
	}
	file, _, err := bolt.Open(ctx, bolt.Options{Path: f.is, Timeout: wait})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m.Records, err = store.Move(ctx, file, to, key, func() error { return f.rename(f.path + leavingSuffix) }, watch)
	if err != nil && f.is != f.path {
		err = f.settle(ctx, file, to, err)
	}
	if err != nil {
		return m, err
	}
	return m, f.rename(m.File)
}

type movedFile struct {
	path string // of the database
	is   string // the name that the file has now
}

// moveSource finds the file that a move copies: the database, or what a move left.
func moveSource(cfg config.Config) (f movedFile, err error) {
	f.path = Database(cfg)
	var there []string
	for _, name := range []string{f.path, f.path + leavingSuffix, f.path + movedSuffix} {
		_, err := os.Lstat(name)
		switch {
		case err == nil:
			there = append(there, name)
		case !errors.Is(err, fs.ErrNotExist):
			return f, err
		}
	}
	switch len(there) {
	case 0:
		return f, fmt.Errorf("%w in %s", ErrNoDatabase, cfg.DataDir)
	case 1:
		f.is = there[0]
		return f, nil
	default:
		return f, hint.With(fmt.Errorf("beside %s there is %s, from an earlier move", there[0], there[1]), "remove the older one, or move it away; then run the command again")
	}
}

func (f *movedFile) rename(name string) error {
	if name != f.is {
		if err := os.Rename(f.is, name); err != nil {
			return err
		}
		f.is = name
	}
	return durable.SyncDir(filepath.Dir(f.path))
}

func movedBefore(ctx context.Context, to *postgres.DB, key seal.RootKey) (bool, error) {
	sealed, err := to.KeyRing(ctx)
	if err != nil || sealed == nil {
		return false, err
	}
	if err := store.CheckKey(key, sealed); err != nil {
		return false, fmt.Errorf("the target database %w: it has a different key ring, so another installation uses or used it: %w", record.ErrExists, err)
	}
	switch d, err := to.Departure(ctx); {
	case err != nil:
		return false, err
	case d != (postgres.Departure{}):
		return false, hint.With(fmt.Errorf("%w: the records of the target were moved into a file, or such a move was interrupted", record.ErrMoved), "run `pushbox move --back`, which names that file, or continues the move")
	}
	return true, nil
}

// settle finds out the outcome of a move that failed after the file was renamed. It gives the file
// its name back if the records are not in the other database.
func (f *movedFile) settle(ctx context.Context, file *bolt.DB, to *postgres.DB, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	sealed, err := file.KeyRing(ctx)
	there := false
	if err == nil {
		there, err = to.Loaded(ctx, sealed)
	}
	switch {
	case err != nil:
		return hint.With(errors.Join(fmt.Errorf("it is not known whether the move was completed; until then the file is %s: %w", f.is, failed), err),
			"run the command again when the database answers: it finds out, and continues")
	case there:
		return nil
	}
	return errors.Join(failed, f.rename(f.path))
}
