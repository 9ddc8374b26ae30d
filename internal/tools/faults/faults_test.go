package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
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
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
	"pushbox/internal/tools/tool"
)

func root(t *testing.T) string {
	t.Helper()
	return env.Must(filepath.Abs("../../.."))(t)
}

func faults(t *testing.T) []fault {
	t.Helper()
	return env.Must(choose(root(t), nil, ""))(t)
}

// A fault that no longer compiles is caught by nothing.
func TestEachPatchFitsTheCode(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for _, f := range faults(t) {
		changed, err := f.seed(func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(c.root, path)) })
		if err == nil {
			err = c.check(changed)
		}
		if err != nil {
			t.Errorf("%s: %v; main.go says how to make the patch again", f.name, err)
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
	out := env.Must(cmd.Output())(t)
	c := &compiler{root: root(t), files: make(map[string][]string), fset: token.NewFileSet()}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			Dir, ImportPath, Export string
			GoFiles                 []string
			Standard                bool
		}
		env.OK(t, d.Decode(&p))
		if exports[p.ImportPath] = p.Export; !p.Standard {
			c.files[p.Dir] = p.GoFiles
		}
	}
	c.types.Importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check returns the first error of the packages that have these files, which are by their paths.
func (c *compiler) check(changed map[string]string) error {
	for path := range changed {
		pkg := filepath.Dir(path)
		var files []*ast.File
		for _, name := range c.files[filepath.Join(c.root, pkg)] {
			var text any // nil: as it is in the tree
			if other, is := changed[filepath.Join(pkg, name)]; is {
				text = other
			}
			f, err := parser.ParseFile(c.fset, filepath.Join(c.root, pkg, name), text, parser.SkipObjectResolution)
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
	all := faults(t)
	for _, f := range all {
		if !name.MatchString(f.name) {
			t.Errorf("%q is not a name of words in lower case with dashes", f.name)
		}
		if !strings.HasSuffix(f.wrong, ".") || len(f.hunks()) == 0 {
			t.Errorf("%s does not say what is wrong in a sentence, or has no patch", f.name)
		}
	}
	if len(all) < 100 {
		t.Errorf("there are only %d faults", len(all))
	}
}

func TestEachFaultNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	dir := root(t)
	there := make(map[string]map[string]bool)
	text := env.Read(t, filepath.Join(dir, drills, "drill_test.go"))
	named := strings.ReplaceAll(string(text), "/", "-")
	for _, f := range faults(t) {
		for _, h := range f.by {
			if there[h.pkg] == nil {
				there[h.pkg] = testsOf(t, filepath.Join(dir, h.pkg))
			}
			function, sub, _ := strings.Cut(h.test, "/")
			if !there[h.pkg][function] {
				t.Errorf("%s: there is no test %s in %s", f.name, function, h.pkg)
			}
			if h.pkg == drills && !strings.Contains(named, strings.ReplaceAll(sub, "_", " ")) {
				t.Errorf("%s: there is no drill %s", f.name, sub)
			}
		}
	}
}

// testsOf are the names of the functions in the test files of a directory.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	paths := env.Must(filepath.Glob(filepath.Join(dir, "*_test.go")))(t)
	names := make(map[string]bool)
	for _, path := range paths {
		file := env.Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
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

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown fault":   {"--list", "no-such-fault"},
		"an unknown flag":    {"--lists"},
		"an unknown harness": {"--list", "--by", "chance"},
		"no time":            {"--limit", "0s", "one-view-too-many"},
	} {
		var out, notes strings.Builder
		var bad tool.UsageError
		if err := command(t.Context(), args, &out, &notes); !errors.As(err, &bad) || bad.Error() == "" || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, &out)
		}
	}
	var out, notes strings.Builder
	if err := command(t.Context(), []string{"--help"}, &out, &notes); !errors.Is(err, flag.ErrHelp) || !strings.Contains(notes.String(), "-limit time") {
		t.Errorf("help: %v, %q", err, &notes)
	}
}

func TestFaultsAreListedByName(t *testing.T) {
	t.Parallel()
	var all, one, notes strings.Builder
	err := errors.Join(command(t.Context(), []string{"--list"}, &all, &notes), command(t.Context(), []string{"--list", "one-view-too-many"}, &one, &notes))
	if want := "one-view-too-many  "; err != nil || !strings.HasPrefix(one.String(), want) || !strings.Contains(all.String(), one.String()) {
		t.Errorf("%v, %q", err, &one)
	}
	if n := strings.Count(all.String(), "\n"); n != len(faults(t)) {
		t.Errorf("%d lines for all of %d faults", n, len(faults(t)))
	}
}
