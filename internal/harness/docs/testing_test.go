package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const testingManual = "docs/testing.md"

// TestTheManualHasEveryHarnessAndItsLength compares the table of docs/testing.md with the
// packages of harnesses, and with the lengths that tests read from the environment.
func TestTheManualHasEveryHarnessAndItsLength(t *testing.T) {
	t.Parallel()
	text, found := string(readFile(t, testingManual)), 0
	for _, pattern := range []string{"internal/harness/*/doc.go", "*/harness/*/doc.go"} {
		docs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			found++
			if !strings.Contains(text, "`"+filepath.Dir(doc)+"`") {
				t.Errorf("the table does not name %s", doc)
			}
		}
	}
	for name, ordinary := range lengths(t) {
		found++
		if !regexp.MustCompile("`(PUSHBOX_TEST)?_" + name + `\x60 \(` + ordinary + `[ )]`).MatchString(text) {
			t.Errorf("the table does not say that PUSHBOX_TEST_%s is ordinarily %s", name, ordinary)
		}
	}
	if found < 20 {
		t.Errorf("only %d harnesses and lengths were found", found)
	}
}

// lengths are the ordinary lengths of tests, by their variables without PUSHBOX_TEST_.
func lengths(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	read := regexp.MustCompile(`env\.Length\(\w+, "PUSHBOX_TEST_(\w+)", ([\d_]+)`)
	root := absolute(t, ".")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range read.FindAllStringSubmatch(string(b), -1) {
			all[m[1]] = strings.ReplaceAll(m[2], "_", "")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
