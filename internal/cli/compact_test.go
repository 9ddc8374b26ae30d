package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pushbox/internal/admin"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/seal"
)

// A compacting engine compacts as the test wants.
type compacting struct {
	store.Engine
	compact func(ctx context.Context, progress func(done, total int64)) error
}

func (c compacting) Compact(ctx context.Context, progress func(done, total int64)) error {
	return c.compact(ctx, progress)
}

// serveCompacting answers on the control socket of a new data directory until
// the test ends, with an engine that compacts as told.
func serveCompacting(t *testing.T, compact func(ctx context.Context, progress func(done, total int64)) error) (dir string) {
	t.Helper()
	dir = shortDir(t)
	cfg := settingsFor(dir)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: databasePath(cfg)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), compacting{engine, compact}, seal.NewRootKey(), storeOptions(cfg))
	if err != nil {
		t.Fatal(err)
	}
	l, err := admin.Listen(t.Context(), admin.SocketPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	server := begin(t.Context(), func(ctx context.Context) error { return admin.Serve(ctx, l, s) })
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Error(err)
		}
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
		{Before: 401 << 20, After: 80 << 20}:  "compacted the database from 401.0 MiB to 80.0 MiB",
		{Before: 80 << 20, After: 80<<20 - 1}: "compacted the database: it has 80.0 MiB, as before",
		{Before: 1 << 20, After: 2 << 20}:     "compacted the database from 1.0 MiB to 2.0 MiB",
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
		{fmt.Errorf("%w: 12 bytes are free", store.ErrFull), []string{
			"pushbox: the store is full: 12 bytes are free\n", "hint: make room for a copy of what is in use, at most ", " KiB, in /",
		}},
		{fmt.Errorf("%w: already", store.ErrBusy), []string{"already\n", "hint: let it finish, or try again"}},
		{context.Canceled, []string{"hint: it was interrupted, and the database is as it was"}},
		{errors.New("odd"), []string{"pushbox: odd\n", "hint: mend that"}},
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

func TestASizeIsWrittenSoThatItCanBeRead(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0:                 "0 B",
		1023:              "1023 B",
		1024:              "1.0 KiB",
		24 << 10:          "24.0 KiB",
		1<<20 - 52:        "1023.9 KiB",
		1<<20 - 51:        "1.0 MiB",
		1 << 20:           "1.0 MiB",
		1<<30 + 300<<20:   "1.3 GiB",
		2 << 40:           "2.0 TiB",
		math.MaxInt64 / 2: "4.0 EiB",
		math.MaxInt64:     "8.0 EiB",
	} {
		if got := readableSize(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
