package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pushbox/internal/backup"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
)

// fill makes the database from a backup, under a temporary name until it is complete.
// The next start or restore removes what a killed one left.
func (r *restoreJob) fill(ctx context.Context, content io.Reader, size int64) (err error) {
	path := instance.Database(r.cfg)
	if err := durable.RemoveLeftovers(path); err != nil {
		return err
	}
	temp, err := r.receive(ctx, path, content, size)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, durable.Scrub(temp))
		}
	}()
	if err := r.wantKey(temp); err != nil {
		return err
	}
	done, err := r.makeUsable(ctx, temp)
	if err != nil {
		return err
	}
	if err := instance.GiveToOwnerOf(r.cfg.DataDir, temp); err != nil {
		return fmt.Errorf("give the database to the owner of its directory: %w", err)
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = r.notEmpty() // a database may have appeared
	}
	if err != nil {
		return err
	}
	r.say(done)
	return durable.RemoveLeftovers(path) // a copy from before an upgrade of it
}

// receive writes the contents of a backup to a temporary file beside path. Now and then it
// checks that there is space to continue: what comes from standard input has no size that could
// be compared before.
func (r *restoreJob) receive(ctx context.Context, path string, content io.Reader, size int64) (temp string, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, durable.TempPattern(path))
	if err != nil {
		return "", err
	}
	p := r.app.progress("reading")
	buffered := bufio.NewWriterSize(f, 1<<20)
	_, err = io.Copy(buffered, &watched{ctx: ctx, from: content, room: func() error { return bolt.CheckSpace(dir) }, tell: func(done int64) { p.set(done, size) }})
	p.end()
	if err == nil {
		err = errors.Join(buffered.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("read the backup: %w", err), durable.Scrub(f.Name()))
	}
	return f.Name(), nil
}

// openCopy opens the copy of a backup as a store.
func (r *restoreJob) openCopy(ctx context.Context, temp string) (*store.Store, error) {
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: temp})
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, engine, r.key, instance.StoreOptions(r.cfg))
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return s, nil
}

// makeUsable turns the copy into a database that a server can open.
func (r *restoreJob) makeUsable(ctx context.Context, temp string) (done store.Restored, err error) {
	s, err := r.openCopy(ctx, temp)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	if done, err = s.Restore(ctx, r.keepLive); err != nil {
		return done, err
	}
	_, _, err = s.Compact(ctx, store.Actor{Role: store.Operator}, func(int64, int64) {})
	if errors.Is(err, record.ErrFull) { // then destroyed data stays in free pages for a while, sealed
		err = nil
	}
	return done, err
}

// A watched reader ends when its context does, or when there is no room for more, and reports
// how many bytes were read.
type watched struct {
	ctx     context.Context
	from    io.Reader
	room    func() error
	tell    func(done int64)
	done    int64
	granted int64 // bytes for which room was asked
}

// roomStep is how many bytes are read between two questions for room.
const roomStep = 8 << 20

// Read reads from the watched reader.
func (w *watched) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.done >= w.granted {
		if err := w.room(); err != nil {
			return 0, err
		}
		w.granted = w.done + roomStep
	}
	n, err := w.from.Read(b)
	w.done += int64(n)
	w.tell(w.done)
	return n, err
}

// source returns the name of the backup, for messages.
func (r *restoreJob) source() string {
	if r.name == standard {
		return "standard input"
	}
	return r.name
}

// say reports the result.
func (r *restoreJob) say(done store.Restored) {
	r.app.say(fmt.Sprintf("restored %s from %s to %s", humanize.Count(done.Pushes, "push", "pushes"), r.source(), r.cfg.DataDir))
	r.app.say(fate(done.Live, r.keepLive))
	r.app.say("accounts and API tokens are as they were; all sessions have ended")
}

// fate says what happened to the pushes that were live in the backup.
func fate(live int, kept bool) string {
	were, have, they, their := "were", "have", "they", "their logs say so"
	if live == 1 {
		were, have, they, their = "was", "has", "it", "its log says so"
	}
	switch {
	case live == 0:
		return "none of them was live in the backup"
	case kept:
		return fmt.Sprintf("%d of them %s live in the backup, and can be viewed again, even if %s ended since; %s", live, were, they, their)
	default:
		return fmt.Sprintf("%d of them %s live in the backup, and %s expired now, because %s may have been viewed since; %s", live, were, have, they, their)
	}
}

// explain adds to an error of a restore what to do about it.
func (r *restoreJob) explain(err error) error {
	missing := (*instance.MissingKeyError)(nil)
	switch {
	case errors.As(err, &missing):
		return hint.With(fmt.Errorf("the key file %s is missing, and a backup does not hold the key", missing.Path),
			"put the key that was in use when the backup was made into %s (mode 600), then run the command again", missing.Path)
	case errors.Is(err, record.ErrKey):
		return hint.With(err, "the key in use here (%s) is another one: replace it with the key that was in use when the backup was made", instance.KeyPlace(r.cfg))
	case errors.Is(err, backup.ErrEncrypted):
		return hint.With(err, "name the file with the identity of a recipient: --identity FILE")
	case errors.Is(err, backup.ErrIdentity):
		return hint.With(err, "name the file with the identity of a recipient: --identity FILE")
	case errors.Is(err, backup.ErrDamaged):
		return hint.With(err, "use a complete copy of it, or another backup")
	case errors.Is(err, fs.ErrNotExist):
		return hint.With(err, "check the path of the backup")
	case errors.Is(err, record.ErrCorrupt):
		return hint.With(fmt.Errorf("%s: %w", r.source(), err), "the file is damaged, or is not a backup; restore another one")
	case errors.Is(err, context.Canceled):
		return hint.With(err, "it was interrupted, and there is no database; run the command again")
	}
	return err
}
