package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
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
	key := env.Must(seal.CreateKeyFile(cfg.KeyFile()))(t)
	o := instance.StoreOptions(cfg)
	o.Root, o.File = store.RootKeeper{File: cfg.KeyFile()}, engine
	s := env.Must(store.Open(t.Context(), compacting{engine, compact}, key, o))(t)
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
		{Before: 1 << 20, After: 2 << 20}:     "compacted the database: it has 2 MiB, and had 1 MiB before; new data was written during the compaction",
	} {
		env.Equal(t, size, compacted(size), want)
	}
}

func TestACompactionThatFailsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want []string
	}{
		{fmt.Errorf("%w: 12 bytes are free", record.ErrFull), []string{
			"pushbox: the store is full: 12 bytes are free\n", "hint: make room for a copy of the used space, in /",
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
	env.ErrorIs(t, "the server's compaction", <-ended, context.Canceled)
}

func TestAReloadTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	cfg := settingsFor(dir)
	s := opened(t, cfg)
	defer closed(t, s)
	answers := make(chan admin.Reloaded, 1)
	reload := func(context.Context, admin.None) (admin.Reloaded, error) { return <-answers, nil }
	defer control(t, cfg, func(ctx context.Context, l net.Listener) error {
		return admin.Serve(ctx, l, s, admin.Reload.By(reload))
	})()
	answers <- admin.Reloaded{Problems: []string{"logo.exe is no image"}}
	run(t, dir, "", "reload").want(t, exitUsage, "nothing was changed", "is no image", "hint: correct these settings")
	answers <- admin.Reloaded{Changed: []string{"allow_anonymous"}, Waiting: []string{"listen"}}
	run(t, dir, "", "reload").want(t, exitDone, "in force now: allow_anonymous", "files with secrets need a restart", "waiting for a restart: listen")
	answers <- admin.Reloaded{Waiting: []string{"listen"}}
	run(t, dir, "", "reload").want(t, exitDone, "no setting changed", "waiting for a restart: listen")
	run(t, env.ShortDir(t), "", "reload").want(t, exitFailed, "no server is running", "--data-dir")
}

// lastLook is what a terminal shows of a bar after all that was written to it.
func lastLook(written string) string {
	looks := strings.Split(strings.TrimRight(written, " \n"), "\r")
	return looks[len(looks)-1]
}

func TestProgressIsShownInBytesOfTheTotal(t *testing.T) {
	t.Parallel()
	type step struct{ done, total int64 }
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"to its end", []step{{0, 2048}, {1024, 2048}, {2048, 2048}}, []string{"copying 100%", "[####################]  2 KiB of 2 KiB"}},
		{"not to its end", []step{{0, 2048}}, []string{"copying   0%", "[                    ]  0 B of 2 KiB"}},
		{"a total that grows", []step{{1024, 1024}, {1024, 4096}, {4096, 4096}}, []string{"copying 100%", "4 KiB of 4 KiB"}},
		{"a total that shrinks", []step{{1024, 4096}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"more than the total", []step{{0, 1024}, {4096, 1024}}, []string{"copying 100%", "4 KiB of 1 KiB"}},
		{"a total that is not known", []step{{512, 0}}, []string{"copying", "512 B"}},
		{"one known later", []step{{512, -1}, {512, 1024}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"one no longer known", []step{{512, 1024}, {700, 0}}, []string{"copying  700 B"}},
		{"half", []step{{1, 1024}, {512, 1024}}, []string{"copying  50% [##########          ]  512 B of 1 KiB"}},
		{"back to the start", []step{{1024, 1024}, {0, 1024}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"very much", []step{{1 << 40, 1 << 40}}, []string{"copying 100%", "1 TiB of 1 TiB"}},
	} {
		var out bytes.Buffer
		p := &progress{what: "copying", out: &out}
		for _, s := range test.steps {
			p.set(s.done, s.total)
		}
		p.end()
		for _, want := range test.want {
			if look := lastLook(out.String()); !strings.Contains(look, want) {
				t.Errorf("%s: %q lacks %q", test.name, look, want)
			}
		}
		if !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%s: the line does not end", test.name)
		}
	}
}

func TestNothingIsShownAfterTheEndNorWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{what: "copying", out: &out}
	p.end() // nothing was shown: there is no line to end
	p.set(1, 2)
	p.end()
	q := (&app{stderr: &out}).progress("copying")
	q.set(1, 2)
	q.end()
	if out.Len() != 0 {
		t.Errorf("shown: %q", &out)
	}
}

func TestProgressMayBeSetWhileItEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{what: "copying", out: &out}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range int64(100) {
				p.set(i, 100)
			}
		})
	}
	p.end()
	all.Wait()
}
