package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/testkit/golden"
)

const fewest = 25

func root(t *testing.T) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func faults(t *testing.T) []fault {
	t.Helper()
	all, err := allFaults()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEachPatchFitsTheCode(t *testing.T) {
	t.Parallel()
	for _, f := range faults(t) {
		dir := t.TempDir()
		paths, err := f.apply(t.Context(), root(t), dir)
		if err != nil {
			t.Errorf("%s: %v; doc.go says how to make the patch again", f.name, err)
			continue
		}
		for _, path := range paths {
			if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, path), nil, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
}

func TestEachFaultHasANameAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	journal, err := findHarness("journal")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, f := range faults(t) {
		if !name.MatchString(f.name) {
			t.Errorf("%q is not a name of words in lower case with dashes", f.name)
		}
		if !strings.HasSuffix(f.wrong, ".") || strings.Contains(f.wrong, "|") || len(f.hunks()) == 0 {
			t.Errorf("%s does not say what is wrong in a sentence, or has no patch", f.name)
		}
		if f.by[0].row != journal.row {
			shown++
		}
	}
	if shown < fewest {
		t.Errorf("there are %d faults for the harnesses, and at least %d are wanted", shown, fewest)
	}
}

func TestEachFaultNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	dir := root(t)
	there := make(map[string]map[string]bool)
	text, err := os.ReadFile(filepath.Join(dir, drills, "drill_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	named := strings.ReplaceAll(string(text), "/", "-")
	for _, f := range faults(t) {
		for _, h := range f.by {
			if there[h.pkg] == nil {
				there[h.pkg] = testsOf(t, filepath.Join(dir, h.pkg))
			}
			if !there[h.pkg][h.function()] {
				t.Errorf("%s: there is no test %s in %s", f.name, h.function(), h.pkg)
			}
			_, sub, _ := strings.Cut(h.test, "/")
			if h.pkg == drills && !strings.Contains(named, strings.ReplaceAll(sub, "_", " ")) {
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

func TestTheTableHasEveryFault(t *testing.T) {
	t.Parallel()
	const begins, ends = "<!-- the faults: go test ./internal/tools/faults -update -->", "<!-- the end of them -->"
	golden.Section(t, "README.md", begins, ends, table(faults(t)))
}

// table is the table of README.md.
func table(faults []fault) string {
	var b strings.Builder
	b.WriteString("| Fault | What is wrong | Caught by |\n|---|---|---|\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, f.wrong, f.catchers())
	}
	return b.String()
}

// catchers names the harnesses of a fault, as a cell.
func (f fault) catchers() string {
	var cells []string
	for _, h := range f.by {
		cells = append(cells, h.row+": `"+h.test+"`")
	}
	return strings.Join(cells, "; else ")
}
