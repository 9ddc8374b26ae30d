package docs

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// absolute is the whole path of a file of the repository. With another one go test would not
// notice that the file has changed, and would repeat an old result: it does not see that
// proctest.Main changes the directory.
func absolute(t *testing.T, name string) string {
	t.Helper()
	return env.Must(filepath.Abs(name))(t)
}

// readFile reads a file of the repository.
func readFile(t *testing.T, name string) []byte {
	t.Helper()
	return env.Read(t, absolute(t, name))
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

func TestMain(m *testing.M) { proctest.Main(m) }

// constants returns a function for the value of a constant of a package, exported or not, of
// its tests too. The type checker computes it from the source alone. A duration is in
// nanoseconds.
func constants(t *testing.T) func(dir, name string) int64 {
	packages := make(map[string]*types.Package)
	return func(dir, name string) int64 {
		t.Helper()
		p := packages[dir]
		if p == nil {
			files, set := []*ast.File(nil), token.NewFileSet()
			here := env.Must(build.ImportDir(absolute(t, dir), 0))(t)
			for _, source := range slices.Concat(here.GoFiles, here.TestGoFiles) {
				parsed := env.Must(parser.ParseFile(set, filepath.Join(here.Dir, source), nil, 0))(t)
				files = append(files, parsed)
			}
			// What needs other packages has no value and gives errors.
			checks := types.Config{Importer: units{}, IgnoreFuncBodies: true, Error: func(error) {}}
			p, _ = checks.Check(dir, set, files, nil)
			packages[dir] = p
		}
		if c, ok := p.Scope().Lookup(name).(*types.Const); ok {
			if n, exact := constant.Int64Val(constant.ToInt(c.Val())); exact {
				return n
			}
		}
		t.Fatalf("%s has no constant %s whose value can be computed", dir, name)
		return 0
	}
}

// units imports packages that are empty, but for units of time.
type units struct{}

func (units) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	if path == "time" {
		for name, d := range map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour} {
			p.Scope().Insert(types.NewConst(token.NoPos, p, name, types.Typ[types.Int64], constant.MakeInt64(int64(d))))
		}
	}
	if path == "pushbox/store/record" {
		p.Scope().Insert(types.NewConst(token.NoPos, p, "Day", types.Typ[types.Int64], constant.MakeInt64(int64(record.Day))))
	}
	p.MarkComplete()
	return p, nil
}

// inFile returns a function for what a pattern finds in its group, in a file.
func inFile(t *testing.T) func(name, pattern string) string {
	return func(name, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(readFile(t, name)))
		if m == nil {
			t.Fatalf("%s has no %s", name, pattern)
		}
		return m[1]
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	return env.Must(strconv.Atoi(text))(t)
}
