package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecture = "ARCHITECTURE.md"

func TestEachPathInTheArchitectureExists(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	paths := append(treePaths(t, string(b)), quotedPaths(string(b))...)
	if len(paths) < 80 {
		t.Errorf("only %d paths were found", len(paths))
	}
	for _, p := range paths {
		found, err := filepath.Glob(strings.ReplaceAll(p, "NAME", "*"))
		if err != nil || len(found) == 0 {
			t.Errorf("there is no %s", p)
		}
	}
}

// treeLine is a line of the tree: its indentation, the names in it, what they are for.
var treeLine = regexp.MustCompile(`^    ( *)(\S+/?(?: \S+/)*)  +\S`)

// treePaths are the paths that the tree shows, two more spaces for each level.
func treePaths(t *testing.T, text string) (paths []string) {
	t.Helper()
	_, tree, _ := strings.Cut(text, "## The tree\n")
	tree, _, _ = strings.Cut(tree, "\n## ")
	var above []string
	for line := range strings.Lines(tree) {
		m := treeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		level := len(m[1]) / 2
		if level > len(above) {
			t.Fatalf("the tree is indented too far at %q", line)
		}
		for name := range strings.FieldsSeq(m[2]) {
			above = append(above[:level], name)
			paths = append(paths, filepath.Join(above...))
		}
	}
	return paths
}

// quotedPath is a path in backquotes. A text with a space, with a capital letter first,
// or with neither a slash nor an ending is not a path.
var quotedPath = regexp.MustCompile("`([a-z0-9_.*/-]*(?:NAME)?[a-z0-9_.*/-]*(?:/|\\.go|\\.md|\\.json|\\.html|\\.yaml|\\.js|\\.css)[a-z0-9_./*-]*)`")

func quotedPaths(text string) (paths []string) {
	for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "/") {
			paths = append(paths, m[1])
		}
	}
	return paths
}

// commentedFile is the name of a source file or a document in a comment, perhaps with its path.
var commentedFile = regexp.MustCompile(`[\w./-]+\.(?:go|md)\b`)

// A package comment names files from its own directory or from the root.
func TestEachFileInAPackageCommentExists(t *testing.T) {
	t.Parallel()
	named := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "e2e"): // e2e names files that it generates
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, name := range commentedFile.FindAllString(f.Doc.Text(), -1) {
			named++
			_, here := os.Stat(filepath.Join(filepath.Dir(path), name))
			if _, below := os.Stat(name); here != nil && below != nil {
				t.Errorf("the package comment in %s names %s, which does not exist", path, name)
			}
		}
		return nil
	})
	if err != nil || named < 20 {
		t.Errorf("only %d files are named, %v", named, err)
	}
}

func TestTheTreeShowsEachPackage(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	shown := treePaths(t, string(b))
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch d.Name() {
		case ".git", ".ci", "testdata", "node_modules", "docs", "deploy", "e2e", "harness", "tools", "testkit":
			return fs.SkipDir // shown as one directory
		}
		if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); path != "." && len(sources) > 0 && !slices.Contains(shown, path) {
			t.Errorf("the tree in %s does not show %s", architecture, path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
