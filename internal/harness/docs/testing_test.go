package docs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

const testingManual = "docs/testing.md"

func TestTheManualHasEveryHarness(t *testing.T) {
	t.Parallel()
	text, found := string(readFile(t, testingManual)), 0
	for _, pattern := range []string{"internal/harness/*/doc.go", "*/harness/*/doc.go"} {
		docs, err := filepath.Glob(pattern)
		env.OK(t, err)
		for _, doc := range docs {
			found++
			if !strings.Contains(text, "`"+filepath.Dir(doc)+"`") {
				t.Errorf("the table does not name %s", doc)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d harnesses were found", found)
	}
}

func TestTheManualHasEveryLength(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| Variable | What it counts | Least | Usual | Long |\n|---|---|---|---|---|\n")
	var names []string
	for _, w := range env.Works() {
		names = append(names, w.Name)
		least := "–"
		if w.Least > 0 {
			least = fmt.Sprint(w.Least)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d | %d |\n", w.Name, w.What, least, w.Usual, w.Long)
	}
	const begins, ends = "<!-- the lengths: go test ./internal/harness/docs -update -->", "<!-- the end of them -->"
	golden.Section(t, absolute(t, testingManual), begins, ends, b.String())
	if read := lengths(t); !slices.Equal(names, read) {
		t.Errorf("env.Works has %v, but tests read %v", names, read)
	}
}

// lengths are the variables that tests read their lengths from, sorted.
func lengths(t *testing.T) []string {
	t.Helper()
	all := make(map[string]bool)
	read := regexp.MustCompile(`env\.Length\(\w+, "(PUSHBOX_TEST_\w+)"\)`)
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
			all[m[1]] = true
		}
		return err
	})
	env.OK(t, err)
	return slices.Sorted(maps.Keys(all))
}

// What passes for a reader of the README is what .ci/run runs.
func TestTheGateRunsTheTestsAsTheREADMEDoes(t *testing.T) {
	t.Parallel()
	readme := regexp.MustCompile(`(?m)^\$ (go test .*)$`).FindStringSubmatch(string(readFile(t, "README.md")))
	if readme == nil {
		t.Fatal("README.md has no command that begins with go test")
	}
	step := regexp.MustCompile(`(?ms)^test\(\) \{\n(.*?)^\}$`).FindStringSubmatch(string(readFile(t, ".ci/run")))
	if step == nil || !strings.Contains(step[1], "\n\t"+readme[1]+"\n") {
		t.Errorf(".ci/run does not have the command %q in its step test", readme[1])
	}
}
