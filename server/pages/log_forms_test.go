package pages

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// detailNames are the names of fields, parameters, results and variables that hold a detail of the
// instance log, or the reason in one.
var detailNames = []string{"detail", "how", "why", "Why"}

// A detailReader finds the texts of details in source.
type detailReader struct {
	funcs map[string][]*ast.FuncDecl // by their names
	words map[string]string          // the texts of constants and errors, by their names
	texts map[string]string          // where each text is
	files *token.FileSet
	depth int // of the calls that are followed
}

func isDetail(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains(detailNames, e.Name)
	case *ast.SelectorExpr:
		return slices.Contains(detailNames, e.Sel.Name)
	}
	return false
}

// places lists for each value of a list of fields whether it is a detail.
func places(l *ast.FieldList) (are []bool) {
	if l == nil {
		return nil
	}
	for _, f := range l.List {
		for _, n := range f.Names {
			are = append(are, isDetail(n))
		}
	}
	return are
}

// addAt adds the expressions that stand where details are.
func (d *detailReader) addAt(l *ast.FieldList, all []ast.Expr) {
	if are := places(l); len(are) == len(all) {
		for i, e := range all {
			if are[i] {
				d.add(e)
			}
		}
	}
}

// read reads the details in a node, which is in a function with these results.
func (d *detailReader) read(in ast.Node, results *ast.FieldList) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil && n != in {
				d.read(n.Body, n.Type.Results)
			}
			return false
		case *ast.FuncLit:
			d.read(n.Body, n.Type.Results)
			return false
		case *ast.ReturnStmt:
			d.addAt(results, n.Results)
		case *ast.KeyValueExpr:
			if isDetail(n.Key) {
				d.add(n.Value)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if isDetail(to) && len(n.Rhs) == len(n.Lhs) {
					d.add(n.Rhs[i])
				}
			}
		case *ast.CompositeLit:
			if name, ok := n.Type.(*ast.Ident); ok && strings.HasSuffix(name.Name, "Error") && len(n.Elts) == 1 {
				d.add(n.Elts[0])
			}
		case *ast.CallExpr:
			for _, f := range d.funcs[called(n)] {
				d.addAt(f.Type.Params, n.Args)
				d.readEach(f.Type.Params, n.Args)
			}
		}
		return true
	})
}

// readEach reads the functions that are passed for parameters whose results have names.
func (d *detailReader) readEach(l *ast.FieldList, all []ast.Expr) {
	i := 0
	for _, f := range l.List {
		if of, ok := f.Type.(*ast.FuncType); ok && i < len(all) {
			if passed, ok := all[i].(*ast.FuncLit); ok {
				d.read(passed.Body, of.Results)
			}
		}
		i += len(f.Names)
	}
}

func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// add adds the text of an expression, unless it is the key of a message.
func (d *detailReader) add(e ast.Expr) {
	if text := d.text(e); regexp.MustCompile(`[a-z]{2}`).MatchString(text) && !regexp.MustCompile(`^[a-z]+_[a-z_]+$`).MatchString(text) {
		d.texts[text] = d.files.Position(e.Pos()).String()
	}
}

// sample is in place of what is only known later.
const sample = "7"

// text returns the text of an expression. It adds the texts that an alternative in it has.
func (d *detailReader) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.Ident:
		return cmp.Or(d.words[e.Name], sample)
	case *ast.BinaryExpr:
		return d.text(e.X) + d.text(e.Y)
	case *ast.CallExpr:
		return d.result(e)
	}
	return sample
}

// result is text of a call.
func (d *detailReader) result(c *ast.CallExpr) string {
	switch called(c) {
	case "Error":
		if of, ok := c.Fun.(*ast.SelectorExpr).X.(*ast.SelectorExpr); ok {
			return cmp.Or(d.words[of.Sel.Name], sample)
		}
		return d.text(c.Fun.(*ast.SelectorExpr).X)
	case "Sprintf":
		args := c.Args
		return regexp.MustCompile(`%[dqsv]`).ReplaceAllStringFunc(d.text(args[0]), func(verb string) string {
			args = args[1:]
			if verb == "%q" {
				return strconv.Quote(d.text(args[0]))
			}
			return d.text(args[0])
		})
	case "Or":
		for _, a := range c.Args {
			d.add(a)
		}
	}
	var all []ast.Expr
	for _, f := range d.funcs[called(c)] {
		if r := f.Type.Results; r != nil && len(r.List) == 1 {
			ast.Inspect(f, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
					all = append(all, r.Results[0])
				}
				return true
			})
		}
	}
	d.depth++
	defer func() { d.depth-- }()
	if d.depth <= 3 {
		if len(all) == 1 {
			return d.text(all[0])
		}
		for _, e := range all {
			d.add(e)
		}
	}
	return sample
}

// learn keeps what is declared in a file.
func (d *detailReader) learn(f *ast.File) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.funcs[decl.Name.Name] = append(d.funcs[decl.Name.Name], decl)
		case *ast.GenDecl:
			for _, s := range decl.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || len(v.Names) != 1 || len(v.Values) != 1 {
					continue
				}
				word := v.Values[0]
				if made, ok := word.(*ast.CallExpr); ok && called(made) == "New" && len(made.Args) == 1 {
					word = made.Args[0]
				}
				if lit, ok := word.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					d.words[v.Names[0].Name] = d.text(lit)
				}
			}
		}
	}
}

// inLog are texts whose rest a sample does not do for. An empty one is never in the instance log.
var inLog = map[string]string{
	"several entries have 7":           "several entries have what was typed",
	", by 7":                           "none, by 7",
	"the stored ID is not a valid 7":   "",
	"the directory cannot be asked: 7": "",
}

// A new text in the log needs a form, or it shows in English in all languages.
func TestEachDetailThatIsWrittenHasAForm(t *testing.T) {
	t.Parallel()
	d := detailReader{funcs: map[string][]*ast.FuncDecl{}, words: map[string]string{}, texts: map[string]string{}, files: token.NewFileSet()}
	var all []*ast.File
	for _, dir := range []string{"store", "store/record", "server/pages", "internal/daemon", "internal/directory", "internal/moving", "internal/admin"} {
		names, err := filepath.Glob("../../" + dir + "/*.go")
		env.OK(t, err)
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				f := env.Must(parser.ParseFile(d.files, name, nil, 0))(t)
				d.learn(f)
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		d.read(f, nil)
	}
	for _, known := range []string{"too many tries", "7 dropped", "7 by 7", "with a recovery code", `by 7, subject "7"`, "the entry has no 7"} {
		if d.texts[known] == "" {
			t.Errorf("%q is not found in the source", known)
		}
	}
	for text, at := range d.texts {
		if instead, is := inLog[text]; is {
			text = instead
		}
		for _, part := range readDetails(record.AdminSignInRefused, text) {
			if part.key == "" && part.text != sample {
				t.Errorf("%s: %q has no row in detailForms", at, text)
			}
		}
	}
}
