package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// A fault that no longer compiles is caught by nothing.
func TestEachPatchFitsTheCode(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for _, f := range faults(t) {
		dir := t.TempDir()
		paths, err := f.apply(t.Context(), root(t), dir)
		if err == nil {
			err = c.check(dir, paths)
		}
		if err != nil {
			t.Errorf("%s: %v; doc.go says how to make the patch again", f.name, err)
		}
	}
}

// A compiler checks the types of packages of which some files are others.
type compiler struct {
	root  string
	files map[string][]string // by directory
	fset  *token.FileSet
	types types.Config
}

func newCompiler(t *testing.T) *compiler {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles,Standard", "./...")
	cmd.Dir, cmd.Env = root(t), append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as the program is built
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	c := &compiler{root: root(t), files: make(map[string][]string), fset: token.NewFileSet()}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			Dir, ImportPath, Export string
			GoFiles                 []string
			Standard                bool
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if exports[p.ImportPath] = p.Export; !p.Standard {
			c.files[p.Dir] = p.GoFiles
		}
	}
	c.types.Importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check returns the first error of the packages that have these files, as they are in dir.
func (c *compiler) check(dir string, paths []string) error {
	for _, path := range paths {
		pkg := filepath.Dir(path)
		var files []*ast.File
		for _, name := range c.files[filepath.Join(c.root, pkg)] {
			from := c.root
			if slices.Contains(paths, filepath.Join(pkg, name)) {
				from = dir
			}
			f, err := parser.ParseFile(c.fset, filepath.Join(from, pkg, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		if len(files) == 0 {
			return fmt.Errorf("%s is in no package", path)
		}
		if _, err := c.types.Check(pkg, c.fset, files, nil); err != nil {
			return err
		}
	}
	return nil
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
