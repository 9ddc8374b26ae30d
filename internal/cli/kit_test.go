package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
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

// shortDir is a directory whose path leaves room for a socket; that of
// t.TempDir has the test's name in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
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
	s, _, err := openStore(t.Context(), opening{cfg: cfg, create: true, wait: lockWait, note: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	if err := closeStore(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// withAlice is a data directory with a store that has one account.
func withAlice(t *testing.T) string {
	t.Helper()
	dir := shortDir(t)
	run(t, dir, password+"\n", "user", "add", alice, "--password-stdin").want(t, exitDone)
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

func secretText(text string) secret.Text { return secret.New(text) }

// soon is a context that ends long after a test should have.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
