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
		if _, err := git(t.Context(), dir, args...); err != nil {
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
		if err := record(t.Context(), dir, "down", nil); err != nil {
			t.Fatal(err)
		}
		if string(readSample(t, dir)) != before {
			t.Error("the tree is not restored")
		}
		f, err := load(dir, "down")
		if err != nil || f.head+"\n" != head || !strings.HasPrefix(f.patch, "diff ") || strings.Contains(f.patch, "\nindex ") {
			t.Fatalf("the patch is\n%s%v", f.patch, err)
		}
		seeded, err := f.seed(func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, path)) })
		if err != nil || len(seeded) != 1 || seeded["sum.go"] != changed {
			t.Errorf("the patch makes something else: %q, %v", seeded, err)
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
	if _, err := git(t.Context(), dir, "add", "-A"); err != nil {
		t.Fatal(err)
	}
	write(t, path, "a\nx\ny\nb\nx\nz\ny\nc\n")
	if err := record(t.Context(), dir, "down", nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, patches, "down.patch"))
	if want := " b\n x\n+z\n y\n c\n"; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("the patch is\n%s%v", text, err)
	}
}

// TestOtherWorkIsNotRecorded has changes that are not staged in a file of the mistake and in
// another one.
func TestOtherWorkIsNotRecorded(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	before := string(readSample(t, dir))
	seeded, other := strings.Replace(before, "sum += n", "sum -= n", 1), filepath.Join(dir, "other.go")
	write(t, other, "package sum\n")
	if _, err := git(t.Context(), dir, "add", "-A"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		own      []string
		other    string // the content of the other file
		want     string // in the error
		recorded bool
	}{
		{nil, "package sum // work\n", "faults record down FILE", false}, // a new fault: both may be its files
		{[]string{"sum.go"}, "package sum // work\n", "other.go has changed since it was staged", false},
		{nil, "package sum\n", "", true},
		{nil, "package sum // work\n", "other.go has changed since it was staged", false}, // the patch has sum.go alone
		{[]string{"sum.go", "other.go"}, "package sum // as well\n", "", true},
	} {
		write(t, filepath.Join(dir, "sum.go"), seeded)
		write(t, other, c.other)
		err := record(t.Context(), dir, "down", c.own)
		usage := tool.UsageError("")
		if c.recorded && err != nil || !c.recorded && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, %q: %v", c.own, c.other, err)
		}
		text, err := os.ReadFile(other)
		if kept := string(readSample(t, dir)) == seeded && string(text) == c.other; err != nil || kept == c.recorded {
			t.Errorf("%v, %q: the tree is kept as it is: %t, %v", c.own, c.other, kept, err)
		}
	}
}

func TestWhatCannotBeRecordedIsRefused(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	write(t, filepath.Join(dir, patches, "headless.patch"), "diff --git a/x b/x\n")
	write(t, filepath.Join(dir, patches, "stranger.patch"), "Wrong: It.\nCaught by: chance\n")
	for name, want := range map[string]string{"unknown": "no fault", "down": "nothing has changed", "headless": "does not begin", "stranger": `no harness "chance"`} {
		err := record(t.Context(), dir, name, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if usage := tool.UsageError(""); errors.As(err, &usage) != (name == "unknown" || name == "down") {
			t.Errorf("%s: a wrong kind of error: %v", name, err)
		}
	}
}
