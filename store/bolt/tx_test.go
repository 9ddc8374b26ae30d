package bolt

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// rawAccess says which files may see rows as they are in the file, past tx.value, and
// why.
var rawAccess = map[string]string{
	"tx.go":              "it is where rows are read",
	"create.go":          "it makes a file",
	"upgrade.go":         "rows of an older version have no tags",
	"upgrade_rows.go":    "rows of an older version have no tags",
	"reseal.go":          "it looks of which key a tag is",
	"rowtag.go":          "it counts rows that are replaced or deleted, to be believed or not",
	"check.go":           "it continues behind a row that cannot be read",
	"check_tags.go":      "it verifies the rows itself",
	"meta.go":            "the sealed key ring is read before there are keys",
	"space.go":           "figures for the operator need no proof",
	"chunk.go":           "it deletes chunks by their keys alone",
	"compact_changes.go": "copies have the bytes of the file",
	"compact_copy.go":    "copies have the bytes of the file",
	"compact_file.go":    "copies have the bytes of the file",
}

// TestRowsAreReadInOnePlace checks that no other file has bbolt's buckets or cursors in
// hand, from which a row could be believed that was not verified.
func TestRowsAreReadInOnePlace(t *testing.T) {
	t.Parallel()
	raw := map[string]bool{
		"Bucket": true, "Cursor": true, "ForEach": true, "ForEachBucket": true, // bbolt's
		"bucket": true, "stored": true, "seekStored": true, "findStored": true, // tx's
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	used := make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		env.OK(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !raw[s.Sel.Name] {
				return true
			}
			used[name] = true
			if rawAccess[name] == "" {
				t.Errorf("%s calls %s", name, s.Sel.Name)
			}
			return true
		})
	}
	for name := range rawAccess {
		if !used[name] {
			t.Errorf("%s no longer needs to see rows as they are in the file", name)
		}
	}
}
