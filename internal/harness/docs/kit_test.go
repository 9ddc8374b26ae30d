package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// absolute is the whole path of a file of the repository. With another one go test would not
// notice that the file has changed, and would repeat an old result: it does not see that
// proctest.Main changes the directory.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	env.OK(t, err)
	return path
}

// readFile reads a file of the repository.
func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(absolute(t, name))
	env.OK(t, err)
	return b
}

// section is the part of a document under a heading of the second level.
func section(t *testing.T, name, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(string(readFile(t, name)), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// block returns the n-th block of a document that is fenced with a language.
func block(t *testing.T, name, language string, n int) string {
	t.Helper()
	all := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(readFile(t, name)), -1)
	if n >= len(all) {
		t.Fatalf("%s has %d blocks of %s", name, len(all), language)
	}
	return all[n][1]
}

// commandsOf splits a block into its commands and their output.
func commandsOf(text string) (commands, printed []string) {
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		} else {
			printed = append(printed, strings.TrimSpace(line))
		}
	}
	return commands, printed
}
