package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/tools/tool"
)

const head = "Wrong: It counts down.\nCaught by: kill\n"

// sampleRepository returns a repository that holds the sample, the head of a fault,
// and a change that is staged.
func sampleRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sum.go"), string(readSample(t, sample))+"// staged\n")
	write(t, filepath.Join(dir, patches, "down.patch"), head)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if _, err := git(t.Context(), dir, "", args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestAChangeOfTheTreeBecomesAPatch(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	before := string(readSample(t, dir))
	for _, change := range []string{"sum -= n", "sum = -n"} { // the second replaces the first
		changed := strings.Replace(before, "sum += n", change, 1)
		write(t, filepath.Join(dir, "sum.go"), changed)
		if err := record(t.Context(), dir, "down"); err != nil {
			t.Fatal(err)
		}
		if string(readSample(t, dir)) != before {
			t.Error("the tree is not restored")
		}
		text, err := os.ReadFile(filepath.Join(dir, patches, "down.patch"))
		if err != nil || !strings.HasPrefix(string(text), head+"\ndiff ") || strings.Contains(string(text), "\nindex ") {
			t.Errorf("the patch is\n%s%v", text, err)
		}
		f, err := parse("down", string(text))
		if err != nil {
			t.Fatal(err)
		}
		copied := t.TempDir()
		if paths, err := f.apply(t.Context(), dir, copied); err != nil || len(paths) != 1 || string(readSample(t, copied)) != changed {
			t.Errorf("the patch makes something else of %q: %v", paths, err)
		}
	}
}

// TestContextGrowsUntilThePlaceIsTheOnlyOne adds a line between two lines that are
// together elsewhere, too.
func TestContextGrowsUntilThePlaceIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	path := filepath.Join(dir, "sum.go")
	write(t, path, "a\nx\ny\nb\nx\ny\nc\n")
	if _, err := git(t.Context(), dir, "", "add", "-A"); err != nil {
		t.Fatal(err)
	}
	write(t, path, "a\nx\ny\nb\nx\nz\ny\nc\n")
	if err := record(t.Context(), dir, "down"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, patches, "down.patch"))
	if want := " b\n x\n+z\n y\n c\n"; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("the patch is\n%s%v", text, err)
	}
}

func TestWhatCannotBeRecordedIsRefused(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	write(t, filepath.Join(dir, patches, "headless.patch"), "diff --git a/x b/x\n")
	write(t, filepath.Join(dir, patches, "stranger.patch"), "Wrong: It.\nCaught by: chance\n")
	for name, want := range map[string]string{"unknown": "first", "down": "nothing has changed", "headless": "does not begin", "stranger": `no harness "chance"`} {
		err := record(t.Context(), dir, name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if usage := tool.UsageError(""); errors.As(err, &usage) != (name == "unknown" || name == "down") {
			t.Errorf("%s: a wrong kind of error: %v", name, err)
		}
	}
}
