package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// Turns that a reader has to read twice, and what to write in their place. Each sentence that has
// one reads better without it.
var turns = []struct{ turn, better string }{
	{`any more\b`, "no longer"},
	{`(?:goes|go|went|going) on\b`, "continues, keeps, remains"},
	{`stands? (?:for|in|behind|before|beside|there)\b`, "means, is, follows"},
	{`tells? of\b`, "reports, describes"},
	{`\b(?:is|are|was|were) of (?:a|an|the|one|it|this|no one)\b`, "belongs to, comes from"},
	{`\b[Nn]o [a-z]+ must\b`, "cannot"},
	{`\b(?:[Ss]omebody|[Nn]obody|[Ww]hoever)\b`, "the role: sender, recipient, owner, administrator, client, attacker"},
	{`[Ww]hat (?:came|becomes?|became) of\b`, "the result of, the outcome of, the state of"},
	{`the time (?:does not|would|might) tell\b`, "so that timing does not reveal"},
	{`what holds for (?:all|everyone)\b`, "the general settings"},
	{`\b(?:no longer|still) good\b|\b(?:is|are|was) good for\b`, "valid, has expired"},
	{`\b(?:gives?|gave|given|giving) (?:IDs |numbers |it )?out\b`, "assigns, issues"},
	{`\bin vain\b`, "without success"},
}

// What matches and is good English, or a name.
var goodTurns = regexp.MustCompile(`many more|the user "nobody"|stand(?:s)? in for|stand for themselves|nothing else going on|(?:is|are|was) of (?:a|the|an) (?:kind|type)|as (?:it|he|she) goes on`)

func TestWordsArePlain(t *testing.T) {
	t.Parallel()
	var words []*regexp.Regexp
	for _, w := range turns {
		words = append(words, regexp.MustCompile(w.turn))
	}
	check := func(where, text string) {
		text = goodTurns.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
		for i, w := range words {
			if found := w.FindString(text); found != "" {
				t.Errorf("%s: %q in %q; better: %s", where, found, text[:min(120, len(text))], turns[i].better)
			}
		}
	}
	err := filepath.WalkDir(absolute(t, "."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "bin" || d.Name() == "LICENSES"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, c := range f.Comments {
				check(fset.Position(c.Pos()).String(), c.Text())
			}
			if strings.HasSuffix(path, "_test.go") {
				return nil
			}
			ast.Inspect(f, func(n ast.Node) bool { // what the program says to people
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, " ") {
					check(fset.Position(l.Pos()).String(), l.Value)
				}
				return true
			})
		case filepath.Ext(path) == ".md":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, paragraph := range strings.Split(string(text), "\n\n") {
				check(path, paragraph)
			}
		}
		return nil
	})
	env.OK(t, err)
}
