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
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

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
			here, err := build.ImportDir(absolute(t, dir), 0)
			env.OK(t, err)
			for _, source := range slices.Concat(here.GoFiles, here.TestGoFiles) {
				parsed, err := parser.ParseFile(set, filepath.Join(here.Dir, source), nil, 0)
				env.OK(t, err)
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
	n, err := strconv.Atoi(text)
	env.OK(t, err)
	return n
}
