package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/postgres"
	"pushbox/store/record"
)

// MoveBack copies the PostgreSQL database at database_url into a new database file in data_dir, and
// compares the two. Once it has begun, servers cannot use PostgreSQL, and they cannot use the file
// before it has ended. It completes an earlier MoveBack that was interrupted.
//
// The error wraps ErrNoDatabase, record.ErrInUse if a server has connections, or an error of
// store.Move. After an error PostgreSQL is in use as before, unless the text says that it is still
// marked as moved.
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
		return m, hint.With(fmt.Errorf("it is not known whether the move was completed: %w", err), "run the command again when the database answers: it finds out, and continues")
	}
	return m, b.publish()
}

type moveBack struct {
	cfg  config.Config
	from *postgres.DB
	mark postgres.Departure
}

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

// clear removes the leftovers of earlier moves, and makes the empty file of this one: while that
// exists, servers do not make a new database.
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
		return hint.With(fmt.Errorf("%w; and PostgreSQL is still marked as moved: %w", failed, err), "run the command again; or, to keep PostgreSQL, pushbox move --back --undo")
	}
	return errors.Join(failed, b.removeFiles(""))
}

// finish completes a move that was interrupted after its mark said that it had ended.
func (b *moveBack) finish() (before bool, err error) {
	if _, err := os.Lstat(b.file()); err == nil {
		return false, b.publish()
	}
	if _, err := os.Lstat(Database(b.cfg)); err == nil {
		return true, nil
	}
	return false, hint.With(fmt.Errorf("%w into a file, and that file is not in %s", record.ErrMoved, b.cfg.DataDir), "name the directory of that file with --data-dir; or, if the file is lost, run `pushbox move --back --undo` to use PostgreSQL again as it was before the move")
}

func (b *moveBack) publish() error {
	if err := durable.PublishNew(b.file(), Database(b.cfg)); err != nil {
		return err
	}
	return b.removeFiles("")
}

// UndoMoveBack makes servers use PostgreSQL again, in its state before the MoveBack. It refuses
// while the data directory has a database file, because the data of one of the two places would be
// lost. It reports false if PostgreSQL was not marked as moved.
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
		if err := b.wantNoFile(hint.With(fmt.Errorf("the records were moved to %s, and only that file has the changes since then", path),
			"to discard those changes, stop its server, move %s away, and run the command again", path)); err != nil {
			return false, err
		}
		if err := db.Stay(ctx, b.mark); err != nil {
			return false, err
		}
		done = true
	}
	return done, b.removeFiles("")
}
