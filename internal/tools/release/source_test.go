package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestACopyIsTheTreeAsItIs: the second build has the commit and the changes of the
// first, and no other files.
func TestACopyIsTheTreeAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(in string, args ...string) string {
		identity := []string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}
		out, err := run(t.Context(), in, nil, "git", append(identity, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	write := func(name, content string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	git(dir, "init", "-q")
	for _, name := range []string{"kept", "changed", "gone"} {
		write(name, "first")
	}
	write(".gitignore", "/ignored\n")
	git(dir, "add", ".")
	git(dir, "commit", "-q", "-m", "first")
	git(dir, "tag", "v1.2.3")
	write("changed", "second")
	write("sub/new", "new")
	write("ignored", "")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	s := source{root: dir, commit: git(dir, "rev-parse", "HEAD")}
	copied, err := s.copyTo(t.Context(), filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"status", "--porcelain"}, {"tag"}} {
		if a, b := git(dir, args...), git(copied.root, args...); a != b {
			t.Errorf("git %s: %q there, %q in the copy", strings.Join(args, " "), a, b)
		}
	}
	names, err := namesIn(copied.root)
	if want := []string{".git", ".gitignore", "changed", "kept", "sub"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if got := string(read(t, filepath.Join(copied.root, "changed"))); got != "second" {
		t.Errorf("the change is %q", got)
	}
}

// TestOnlyACommitIsPublished tries a tree with an extra file, and one of another
// project.
func TestOnlyACommitIsPublished(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if _, err := findSource(t.Context(), false); err == nil || !strings.Contains(err.Error(), "clone") {
		t.Errorf("no repository: %v", err)
	}
	git := func(args ...string) {
		identity := []string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}
		if _, err := run(t.Context(), dir, nil, "git", append(identity, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	if _, err := findSource(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not pushbox's source tree") {
		t.Errorf("another repository: %v", err)
	}
	if err := os.MkdirAll(filepath.Join("internal", "tools", "release"), dirMode); err != nil {
		t.Fatal(err)
	}
	git("commit", "-q", "--allow-empty", "-m", "first")
	if s, err := findSource(t.Context(), false); err != nil || len(s.commit) < 40 || s.time.IsZero() || s.version == "" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.WriteFile("more", nil, fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := findSource(t.Context(), false); err == nil || !strings.Contains(err.Error(), "--allow-changes") || !strings.Contains(err.Error(), "more") {
		t.Errorf("a change: %v", err)
	}
	if _, err := findSource(t.Context(), true); err != nil {
		t.Errorf("a change that may be: %v", err)
	}
}

// TestEachDependencyIsExplained compares the modules that go.mod requires directly, and
// those of the release tools, with docs/dependencies.md.
func TestEachDependencyIsExplained(t *testing.T) {
	t.Parallel()
	s := tree(t)
	document := string(read(t, filepath.Join(s.root, "docs", "dependencies.md")))
	for _, dir := range []string{s.root, s.tools()} {
		list, err := run(t.Context(), dir, nil, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all")
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for module := range strings.SplitSeq(list, "\n") {
			if module == "" {
				continue
			}
			seen++
			if row := regexp.MustCompile(`(?m)^\|.*\b` + regexp.QuoteMeta(module) + `\b[^|]*\|`); !row.MatchString(document) {
				t.Errorf("docs/dependencies.md has no row for %s", module)
			}
		}
		if seen < 3 {
			t.Errorf("only %d modules were found in %s", seen, dir)
		}
	}
}
