package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// keyless replaces what differs each time: directories, keys and their times.
func keyless(text, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		text = strings.ReplaceAll(text, real, "DIR")
	}
	text = strings.ReplaceAll(text, dir, "DIR")
	text = regexp.MustCompile(`\(ID [0-9a-f]{8}\)`).ReplaceAllString(text, "(ID KEYID)")
	return regexp.MustCompile(`\.old-20\d{6}T\d{6}Z`).ReplaceAllString(text, ".old-TIME")
}

// wantFollowed runs the commands of a text, and compares their output with what is
// written.
func wantFollowed(t *testing.T, s *shell, text string, least int) {
	t.Helper()
	got := strings.Split(keyless(s.follow(text), s.dir), "\n")
	for i, want := range strings.Split(text, "\n") {
		if i >= len(got) || got[i] != want {
			t.Fatalf("line %d is\n%s\nand the output is\n%s", i+1, want, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""))
		}
	}
	if s.ran < least {
		t.Errorf("%d commands were run", s.ran)
	}
}

func TestTheCommandsAboutKeysWorkWithAServerAndWithout(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, "docs/keys.md"))
	for _, online := range []bool{true, false} {
		s := newIdleShell(t, "testdata/databases/schema-6")
		s.run("pushbox compact") // which upgrades it
		s.run("rm data/pushbox.db.schema6")
		if online {
			server, err := proctest.Start(s.dir, s.env, nil)
			env.OK(t, err)
			t.Cleanup(server.Kill)
		}
		wantFollowed(t, s, text, 4)
		if out, stderr := s.run("pushbox user list"); !strings.Contains(out, "ann@example.com") || stderr != "" {
			t.Errorf("then the accounts are %s%s", out, stderr)
		}
	}
}

func TestTheCommandsAboutUpgradingWork(t *testing.T) {
	t.Parallel()
	text := readFile(t, "docs/upgrading.md")
	s := newIdleShell(t, "testdata/databases/schema-4")
	wantFollowed(t, s, string(text), 3)

	// The commands for going back are not in such a block.
	s = newIdleShell(t, "testdata/databases/schema-4")
	s.run("pushbox compact")
	const back = "cp data/pushbox.db.schema4 data/pushbox.db"
	if !strings.Contains(string(text), "\n    "+back+"\n") {
		t.Error("the manual does not say how to go back")
	}
	s.run(back)
	if _, stderr := s.run("pushbox compact"); !strings.Contains(stderr, "upgraded the database from schema 4") {
		t.Errorf("the old database is not restored: %s", stderr)
	}
}

// newIdleShell returns a shell whose directory has a database and its key, without a
// server.
func newIdleShell(t *testing.T, from string) *shell {
	t.Helper()
	s := &shell{t: t, url: documented, dir: t.TempDir(), env: proctest.Environ()}
	data := filepath.Join(s.dir, "data")
	env.OK(t, os.Mkdir(data, 0o700))
	for _, name := range []string{"pushbox.db", "master.key"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(data, name), b, 0o600)
		}
		env.OK(t, err)
	}
	return s
}
