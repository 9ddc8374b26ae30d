package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// A result is what came of a command.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command on a data directory.
func run(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--data-dir", dir)
	code := Main(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, nil)
	return result{code, stdout.String(), stderr.String()}
}

// want fails the test unless the command ended so, and said so.
func (r result) want(t *testing.T, code int, stderr ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("the exit code is %d, not %d\n%s", r.code, code, r.stderr)
	}
	for _, text := range stderr {
		if !strings.Contains(r.stderr, text) {
			t.Errorf("standard error lacks %q:\n%s", text, r.stderr)
		}
	}
	return r
}

// settingsFor are the defaults, on a directory.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir, cfg.Listen = dir, "127.0.0.1:0"
	return cfg
}

// opened opens a store, which the test closes.
func opened(t *testing.T, cfg config.Config) *store.Store {
	t.Helper()
	s, _, err := instance.Open(t.Context(), instance.Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	env.OK(t, err)
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	env.OK(t, instance.Close(t.Context(), s))
}

// withAlice is a data directory with a store that has one account.
func withAlice(t *testing.T) string {
	t.Helper()
	dir := env.ShortDir(t)
	run(t, dir, password+"\n", "user", "add", alice, "--password-stdin", "--init").want(t, exitDone)
	return dir
}

// typist is a console on which a text is typed. out is what it shows.
func typist(typed io.Reader) (c *console, out *bytes.Buffer, restored *int) {
	out, restored = new(bytes.Buffer), new(int)
	return &console{
		in: typed, out: out, terminal: true,
		raw: func() (func() error, error) {
			return func() error { *restored++; return nil }, nil
		},
	}, out, restored
}

// soon is a context that ends long after a test should have.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), env.Patience)
	t.Cleanup(cancel)
	return ctx
}

// control has serve answer on the control socket of a data directory until end is
// called.
func control(t *testing.T, cfg config.Config, serve func(context.Context, net.Listener) error) (end func()) {
	t.Helper()
	l, err := admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir))
	env.OK(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	return func() {
		t.Helper()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
