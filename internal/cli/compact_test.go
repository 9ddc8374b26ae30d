package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A compacting engine compacts as the test wants.
type compacting struct {
	record.Engine
	compact func(ctx context.Context, progress func(done, total int64)) error
}

func (c compacting) Compact(ctx context.Context, progress func(done, total int64)) error {
	return c.compact(ctx, progress)
}

// serveCompacting answers on the control socket of a new data directory until
// the test ends, with an engine that compacts as told.
func serveCompacting(t *testing.T, compact func(ctx context.Context, progress func(done, total int64)) error) (dir string) {
	t.Helper()
	dir = env.ShortDir(t)
	cfg := settingsFor(dir)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: instance.Database(cfg)})
	env.OK(t, err)
	key, err := seal.CreateKeyFile(cfg.KeyFile())
	env.OK(t, err)
	o := instance.StoreOptions(cfg)
	o.Root = store.RootKeeper{File: cfg.KeyFile()}
	s, err := store.Open(t.Context(), compacting{engine, compact}, key, o)
	env.OK(t, err)
	end := control(t, cfg, func(ctx context.Context, l net.Listener) error { return admin.Serve(ctx, l, s) })
	t.Cleanup(func() {
		end()
		closed(t, s)
	})
	return dir
}

func TestACompactionSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	dir := serveCompacting(t, func(_ context.Context, progress func(done, total int64)) error {
		progress(1<<20, 1<<20)
		return nil
	})
	r := run(t, dir, "", "compact").want(t, exitDone, "pushbox: compacted the database: it has ", " KiB, as before\n")
	if r.stdout != "" || strings.Contains(r.stderr, "copying") {
		t.Errorf("without a terminal it wrote %q and %q", r.stdout, r.stderr)
	}
	for size, want := range map[admin.CompactResult]string{
		{Before: 401 << 20, After: 80 << 20}:  "compacted the database from 401 MiB to 80 MiB",
		{Before: 80 << 20, After: 80<<20 - 1}: "compacted the database: it has 80 MiB, as before",
		{Before: 1 << 20, After: 2 << 20}:     "compacted the database: it has 2 MiB, and had 1 MiB before; it was written to meanwhile",
	} {
		if got := compacted(size); got != want {
			t.Errorf("%+v: %s", size, got)
		}
	}
}

func TestACompactionThatFailsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want []string
	}{
		{fmt.Errorf("%w: 12 bytes are free", record.ErrFull), []string{
			"pushbox: the store is full: 12 bytes are free\n", "hint: make room for a copy of what is in use, in /",
		}},
		{fmt.Errorf("%w: already", record.ErrBusy), []string{"already\n", "hint: let it finish, or try again"}},
		{context.Canceled, []string{"hint: it was interrupted, and the database is as it was"}},
		{errors.New("odd"), []string{"pushbox: odd\n", "hint: correct what the message names"}},
	} {
		dir := serveCompacting(t, func(context.Context, func(done, total int64)) error { return test.err })
		if r := run(t, dir, "", "compact").want(t, exitFailed, test.want...); r.stdout != "" {
			t.Errorf("%v: it wrote %q", test.err, r.stdout)
		}
	}
}

func TestAnInterruptEndsTheCompactionOfTheServer(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended, late := make(chan error, 1), soon(t)
	dir := serveCompacting(t, func(ctx context.Context, _ func(done, total int64)) error {
		interrupt()
		select {
		case <-ctx.Done():
		case <-late.Done():
		}
		ended <- ctx.Err()
		return ctx.Err()
	})
	var out bytes.Buffer
	code := Main(ctx, []string{"compact", "--data-dir", dir}, strings.NewReader(""), &out, &out, nil)
	result{code, "", out.String()}.want(t, exitFailed, "hint: it was interrupted, and the database is as it was")
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the server's compaction ended with %v", err)
	}
}
