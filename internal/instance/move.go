package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

// A move makes one place unusable before it makes the other one usable, and each step is
// durable before the next one, so it may be cut short at any moment:
//
// From the file to PostgreSQL all records are copied and compared in one transaction. Before
// its commit the file is renamed to pushbox.db.leaving, and after it to pushbox.db.moved. If
// the transaction does not commit, the file gets its name back. A move that finds
// pushbox.db.leaving asks PostgreSQL which it was, and continues.
//
// From PostgreSQL to a file the database is marked first, so that all servers refuse; then
// the file is made, as pushbox.db.arriving-N; then the mark says that move N has ended; then
// the file gets its name. A move that finds the mark continues.

// What ends the name of a database file in a move.
const (
	leavingSuffix  = ".leaving"   // its records are perhaps in PostgreSQL
	movedSuffix    = ".moved"     // its records are in PostgreSQL
	arrivingSuffix = ".arriving-" // and the number of the move: its records are perhaps still in PostgreSQL
)

// Moved is what a move did.
type Moved struct {
	Records int64  // that were copied and compared; 0: an earlier move had copied them
	File    string // the database file, by the name that it has now
	Before  bool   // there was nothing left to do
}

// Times of a move.
const (
	moveAttempt = 30 * time.Second
	settleTime  = time.Minute     // to find out what became of a commit, or to take a mark away
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

// refuseMoved returns an error if the records of a data directory without a database are in
// PostgreSQL, or may be.
func refuseMoved(cfg config.Config) error {
	path := Database(cfg)
	if _, err := os.Lstat(path + movedSuffix); err == nil {
		return hint.With(fmt.Errorf("the database of %s was moved to PostgreSQL, and database_url is not set", cfg.DataDir),
			"set database_url; or, to go back with what has changed since, set it and run `pushbox move --back`; or, to go back to the file as it was then, stop all servers and rename %[1]s%[2]s to %[1]s", path, movedSuffix)
	}
	if _, err := os.Lstat(path + leavingSuffix); err == nil {
		return hint.With(fmt.Errorf("a move of the database of %s to PostgreSQL was cut short", cfg.DataDir), "run `pushbox move` again, which finds out how far it came")
	}
	if left, err := arriving(cfg); err != nil || len(left) == 0 {
		return err
	}
	return hint.With(fmt.Errorf("a move from PostgreSQL into %s was cut short", cfg.DataDir),
		"run `pushbox move --back` again, with database_url; or `pushbox move --back --undo`, and go on with PostgreSQL")
}

// refuseFileBeside returns an error if there is a database file beside an empty PostgreSQL
// database: a server that made a new store there would seem to have lost all.
func refuseFileBeside(cfg config.Config) error {
	path := Database(cfg)
	if _, err := os.Lstat(path); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and there is a database file, %s", path),
			"run `pushbox move`, which brings it there; or, to begin with nothing, move the file away")
	}
	if _, err := os.Lstat(path + leavingSuffix); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and there is %s%s: a move was cut short", path, leavingSuffix), "run `pushbox move` again, which goes on")
	}
	if _, err := os.Lstat(path + movedSuffix); err == nil {
		return hint.With(fmt.Errorf("the database at database_url is empty, and the records of %s%s went to another one", path, movedSuffix),
			"name that one with database_url; or, to begin with nothing, move the file away")
	}
	return nil
}

// arriving lists the files of moves from PostgreSQL that did not end.
func arriving(cfg config.Config) ([]string, error) {
	return filepath.Glob(globbed(Database(cfg)) + arrivingSuffix + "*")
}

// globbed is a path as a pattern that matches it alone.
func globbed(path string) string {
	var b []byte
	for i := range len(path) {
		if c := path[i]; c == '*' || c == '?' || c == '[' || c == '\\' && os.PathSeparator != '\\' {
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}

// openMove opens the PostgreSQL database of a move.
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
// database_url, compares the two, and renames the file, so that servers no longer use it.
// What an earlier Move left that was cut short it brings to its end.
//
// The error wraps ErrNoDatabase, record.ErrInUse if a server runs, or an error of store.Move.
// After it the file is as it was and has its name, unless the text says that the outcome is
// not known.
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
				"name the database that it went to; or, to move the file once more, as it was then, rename %s to %s", f.is, f.path)
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

// A movedFile is the file of a move to PostgreSQL.
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
		return f, hint.With(fmt.Errorf("beside %s there is %s, of an earlier move", there[0], there[1]), "remove the older one, or move it away; then run the command again")
	}
}

// rename gives the file another name, durably.
func (f *movedFile) rename(name string) error {
	if name != f.is {
		if err := os.Rename(f.is, name); err != nil {
			return err
		}
		f.is = name
	}
	return durable.SyncDir(filepath.Dir(f.path))
}

// movedBefore reports whether a move has ended already: the database has a key ring that the
// key opens.
func movedBefore(ctx context.Context, to *postgres.DB, key seal.RootKey) (bool, error) {
	sealed, err := to.KeyRing(ctx)
	if err != nil || sealed == nil {
		return false, err
	}
	if err := store.CheckKey(key, sealed); err != nil {
		return false, fmt.Errorf("the database to move to %w: it has another key ring, so it is in use or was: %w", record.ErrExists, err)
	}
	switch d, err := to.Departure(ctx); {
	case err != nil:
		return false, err
	case d != (postgres.Departure{}):
		return false, hint.With(fmt.Errorf("%w there, and from there into a file, or such a move was cut short", record.ErrMoved), "run `pushbox move --back`, which says where it is or goes on")
	}
	return true, nil
}

// settle finds out what became of a move that failed after the file was renamed. It gives
// the file its name back if the records are not in the other database.
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
		return hint.With(errors.Join(fmt.Errorf("it is not known whether the move has ended; until it is known, the file is %s: %w", f.is, failed), err),
			"run the command again when the database answers: it finds out, and goes on")
	case there:
		return nil
	}
	return errors.Join(failed, f.rename(f.path))
}

// MoveBack copies the PostgreSQL database at database_url into a new database file in
// data_dir, and compares the two. From the time when it begins, no server uses PostgreSQL,
// and none may use the file before it has ended. What an earlier MoveBack left that
// was cut short it brings to its end.
//
// The error wraps ErrNoDatabase, record.ErrInUse if a server has connections, or an error of
// store.Move. After it PostgreSQL is in use as
// before, unless the text says that it is still marked as moved.
func MoveBack(ctx context.Context, cfg config.Config, note func(string), watch store.MoveWatch) (m Moved, err error) {
	if err := PrepareDir(cfg.DataDir, note); err != nil {
		return m, err
	}
	from, err := openMove(ctx, cfg)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	b := moveBack{cfg: cfg, from: from}
	if b.mark, err = from.Departure(ctx); err != nil {
		return m, err
	}
	m.File = Database(cfg)
	if b.mark.Ended {
		m.Before, err = b.finish()
		return m, err
	}
	if err := b.begin(ctx); err != nil {
		return m, err
	}
	if m.Records, err = b.copy(ctx, watch); err != nil {
		return m, b.giveUp(ctx, err)
	}
	switch err := from.Arrive(ctx, b.mark); {
	case errors.Is(err, record.ErrMoved): // another move took its place
		return m, errors.Join(err, durable.Scrub(b.file()))
	case err != nil:
		return m, hint.With(fmt.Errorf("it is not known whether the move has ended: %w", err), "run the command again when the database answers: it finds out, and goes on")
	}
	return m, b.publish()
}

// A moveBack is a move out of PostgreSQL under way.
type moveBack struct {
	cfg  config.Config
	from *postgres.DB
	mark postgres.Departure
}

// file is the database file until the move has ended.
func (b *moveBack) file() string {
	return Database(b.cfg) + arrivingSuffix + strconv.FormatInt(b.mark.Number, 10)
}

// begin makes sure that nothing is in the way, marks the database, and makes the file that
// shows that a move is under way.
func (b *moveBack) begin(ctx context.Context) error {
	path := Database(b.cfg)
	if err := b.wantNoFile(hint.With(fmt.Errorf("there is a database in %s, which a move does not replace", b.cfg.DataDir),
		"name an empty directory with --data-dir; or stop its server and move %s away", path)); err != nil {
		return err
	}
	sealed, err := b.from.KeyRing(ctx)
	if err == nil && sealed == nil {
		err = fmt.Errorf("%w of pushbox at database_url", ErrNoDatabase)
	}
	if err == nil {
		err = b.awaitOthers(ctx)
	}
	if err != nil {
		return err
	}
	before := b.mark
	b.mark, err = b.from.Depart(ctx, before)
	if errors.Is(err, record.ErrMoved) { // another move came first
		return err
	}
	if err == nil {
		err = b.clear()
	}
	if err != nil {
		return b.giveUp(ctx, err)
	}
	return nil
}

// wantNoFile returns refusal if the data directory has a database file.
func (b *moveBack) wantNoFile(refusal error) error {
	_, err := os.Lstat(Database(b.cfg))
	switch {
	case err == nil:
		return refusal
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// awaitOthers waits for the end of other connections of pushbox.
func (b *moveBack) awaitOthers(ctx context.Context) error {
	for begun := time.Now(); ; {
		n, err := b.from.Others(ctx)
		switch {
		case err != nil || n == 0:
			return err
		case time.Since(begun) > othersTime:
			return fmt.Errorf("%w: pushbox has %d other connections to it", record.ErrInUse, n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// clear removes what moves before left, and makes the file of this one, with nothing in it: as
// long as it is there, no server makes a new database.
func (b *moveBack) clear() error {
	f, err := os.OpenFile(b.file(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), durable.SyncDir(b.cfg.DataDir)); err != nil {
		return err
	}
	return b.removeFiles(b.file())
}

// removeFiles removes the files of moves, but for one.
func (b *moveBack) removeFiles(but string) error {
	left, err := arriving(b.cfg)
	for _, path := range left {
		if path != but {
			err = errors.Join(err, durable.Scrub(path))
		}
	}
	return errors.Join(err, durable.RemoveLeftovers(Database(b.cfg)), durable.SyncDir(b.cfg.DataDir))
}

// copy makes the file.
func (b *moveBack) copy(ctx context.Context, watch store.MoveWatch) (n int64, err error) {
	key, _, err := MasterKey(b.cfg, true)
	if err != nil {
		return 0, err
	}
	to, temp, err := bolt.OpenCopy(Database(b.cfg))
	if err != nil {
		return 0, err
	}
	n, err = store.Move(ctx, b.from, to, key, func() error { return nil }, watch)
	if err = errors.Join(err, to.Close()); err == nil {
		err = GiveToOwnerOf(b.cfg.DataDir, temp)
	}
	if err == nil {
		_, err = durable.Replace(temp, b.file())
	}
	if err != nil {
		err = errors.Join(err, durable.Scrub(temp))
	}
	return n, err
}

// giveUp takes the mark away after an error, so that servers use PostgreSQL again.
func (b *moveBack) giveUp(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := b.from.Stay(ctx, b.mark); err != nil {
		return hint.With(fmt.Errorf("%w; and PostgreSQL is still marked as moved: %w", failed, err), "run the command again; or, to go on with PostgreSQL, pushbox move --back --undo")
	}
	return errors.Join(failed, b.removeFiles(""))
}

// finish brings a move to its end that was cut short after the mark said that it had ended.
func (b *moveBack) finish() (before bool, err error) {
	if _, err := os.Lstat(b.file()); err == nil {
		return false, b.publish()
	}
	if _, err := os.Lstat(Database(b.cfg)); err == nil {
		return true, nil
	}
	return false, hint.With(fmt.Errorf("%w into a file, which is not in %s", record.ErrMoved, b.cfg.DataDir), "name the directory that it was moved to with --data-dir; or, if that file is lost, run `pushbox move --back --undo`, and go on with PostgreSQL as it was then")
}

// publish gives the finished file its name.
func (b *moveBack) publish() error {
	if err := durable.PublishNew(b.file(), Database(b.cfg)); err != nil {
		return err
	}
	return b.removeFiles("")
}

// UndoMoveBack has servers use PostgreSQL again after a MoveBack, as it was then. It refuses
// while the data directory has a database file: of two places in use, one would be lost.
// It reports false if PostgreSQL was not marked as moved.
func UndoMoveBack(ctx context.Context, cfg config.Config) (done bool, err error) {
	db, err := openMove(ctx, cfg)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	b := moveBack{cfg: cfg, from: db}
	if b.mark, err = db.Departure(ctx); err != nil {
		return false, err
	}
	if b.mark != (postgres.Departure{}) { // first the file, which a move could still give its name to
		if err := durable.Scrub(b.file()); err != nil {
			return false, err
		}
		path := Database(cfg)
		if err := b.wantNoFile(hint.With(fmt.Errorf("the records were moved to %s, and what has changed since is in it alone", path),
			"to lose that, stop its server, move %s away, and run the command again", path)); err != nil {
			return false, err
		}
		if err := db.Stay(ctx, b.mark); err != nil {
			return false, err
		}
		done = true
	}
	return done, b.removeFiles("")
}
