package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The faults are of code that changes: each must still be one of it.

const fewest = 25

func root(t *testing.T) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEachFaultIsOneOfTodaysCode(t *testing.T) {
	t.Parallel()
	dir := root(t)
	for _, f := range allFaults() {
		files, err := f.patched(dir)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		for path, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
}

func TestEachFaultHasANameOfItsOwnAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen, shown := make(map[string]bool), 0
	for _, f := range allFaults() {
		if seen[f.name] || !name.MatchString(f.name) {
			t.Errorf("%q is there twice, or is no name", f.name)
		}
		seen[f.name] = true
		if !strings.HasSuffix(f.says, ".") || strings.ContainsAny(f.says, "|\n") || len(f.edits) == 0 || len(f.by) == 0 {
			t.Errorf("%s is not told in full", f.name)
		}
		if len(f.by) > 0 && f.by[0].row != readers().row {
			shown++
		}
	}
	if shown < fewest {
		t.Errorf("there are %d faults for the harnesses, and at least %d are wanted", shown, fewest)
	}
}

func TestEachFaultNamesTestsThatThereAre(t *testing.T) {
	t.Parallel()
	dir := root(t)
	there := make(map[string]map[string]bool)
	drills, err := os.ReadFile(filepath.Join(dir, "server", "drill_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	named := strings.ReplaceAll(string(drills), "/", "-")
	for _, f := range allFaults() {
		for _, h := range f.by {
			if there[h.pkg] == nil {
				there[h.pkg] = testsOf(t, filepath.Join(dir, h.pkg))
			}
			if !there[h.pkg][h.function()] {
				t.Errorf("%s: there is no test %s in %s", f.name, h.function(), h.pkg)
			}
			_, sub, _ := strings.Cut(h.test, "/")
			if !strings.Contains(named, strings.ReplaceAll(sub, "_", " ")) {
				t.Errorf("%s: there is no drill %s", f.name, sub)
			}
		}
	}
}

// testsOf are the names of the functions in the test files of a directory.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

func TestTheTableOfTheDocumentIsTheOneThatIsPrinted(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root(t), "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := writeTable(&table, allFaults()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), table.String()) {
		t.Error("docs/testing.md has another table; put there what go run ./internal/faults --markdown prints")
	}
}
