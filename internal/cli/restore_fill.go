package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"pushbox/internal/durable"
	"pushbox/store"
	"pushbox/store/bolt"
)

// fill makes the database of what a backup holds, under a temporary name until all
// is done. What a kill leaves of it, the next start or restore removes.
func (r *restoring) fill(ctx context.Context, content io.Reader, size int64) (err error) {
	path := databasePath(r.cfg)
	if err := durable.RemoveLeftovers(path); err != nil {
		return err
	}
	temp, err := r.receive(ctx, content, size)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(temp))
		}
	}()
	if err := r.wantKey(temp); err != nil {
		return err
	}
	done, err := r.settle(ctx, temp)
	if err != nil {
		return err
	}
	if err := giveToOwnerOf(r.cfg.DataDir, temp); err != nil {
		return fmt.Errorf("give the database to the owner of its directory: %w", err)
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = r.notEmpty() // by now
	}
	if err != nil {
		return err
	}
	r.say(done)
	return durable.RemoveLeftovers(path) // a copy from before an upgrade of it
}

// receive writes what a backup holds to a temporary file.
func (r *restoring) receive(ctx context.Context, content io.Reader, size int64) (temp string, err error) {
	f, err := os.CreateTemp(r.cfg.DataDir, durable.TempPattern(databasePath(r.cfg)))
	if err != nil {
		return "", err
	}
	p := r.app.progress("reading")
	buffered := bufio.NewWriterSize(f, 1<<20)
	_, err = io.Copy(buffered, &watched{ctx: ctx, from: content, tell: func(done int64) { p.set(done, size) }})
	p.end()
	if err = errors.Join(err, buffered.Flush(), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("read the backup: %w", err), removeIfThere(f.Name()))
	}
	return f.Name(), nil
}

// settle makes the copy a database to go on with.
func (r *restoring) settle(ctx context.Context, temp string) (done store.Restored, err error) {
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: temp})
	if err != nil {
		return done, err
	}
	s, err := store.Open(ctx, engine, r.key, storeOptions(r.cfg))
	if err != nil {
		return done, errors.Join(err, engine.Close())
	}
	defer func() { err = errors.Join(err, closeStore(ctx, s)) }()
	if done, err = s.Restore(ctx, r.keepLive); err != nil {
		return done, err
	}
	_, _, err = s.Compact(ctx, func(int64, int64) {})
	if errors.Is(err, store.ErrFull) { // then what was destroyed stays in unused pages for a while, sealed
		err = nil
	}
	return done, err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// A watched reader ends when its context does, and tells how many bytes were read.
type watched struct {
	ctx  context.Context
	from io.Reader
	tell func(done int64)
	done int64
}

// Read reads from what is watched.
func (w *watched) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.from.Read(b)
	w.done += int64(n)
	w.tell(w.done)
	return n, err
}
