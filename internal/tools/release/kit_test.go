package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// aJob makes a release of the source tree of these tests, into a new directory.
func aJob(t *testing.T) job {
	t.Helper()
	root, err := filepath.Abs("../../..")
	env.OK(t, err)
	s := source{root: root, version: "1.2.3", commit: "0123456789abcdef", time: time.Unix(1_700_000_000, 0).UTC()}
	return job{source: s, dist: t.TempDir(), work: t.TempDir()}
}

// aBuild returns a build for a target. Its build information is that of the test's own
// binary.
func aBuild(t *testing.T, of target) build {
	t.Helper()
	info, err := buildinfo.ReadFile(executable(t))
	env.OK(t, err)
	return build{target: of, content: []byte("the program for " + of), info: info, files: files{
		"LICENSE":              document([]byte("own conditions")),
		"README.md":            document([]byte("read me")),
		"THIRD-PARTY-LICENSES": document([]byte("their conditions")),
	}}
}

// executable is the path of the test's own binary.
func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	env.OK(t, err)
	return self
}

func read(t *testing.T, name ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(name...))
	env.OK(t, err)
	return b
}

func write(t *testing.T, content string, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	env.OK(t, (files{filepath.Base(path): document([]byte(content))}).writeBelow(filepath.Dir(path)))
}

// do runs a program that must not fail, and returns its output.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// git runs git in a directory, as a person with a name.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	identity := []string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}
	return strings.TrimSuffix(do(t, "git", append(identity, args...)...), "\n")
}
