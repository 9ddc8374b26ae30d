package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

const sample = "testdata/sample"

// seeded is a fault in the sample: the loop of Sum, which has one line, gets another
// text. The tests must notice it.
func seeded(old, text string, tests ...string) fault {
	f := fault{name: "seeded", patch: fmt.Sprintf("--- a/sum.go\n+++ b/sum.go\n@@ -7,3 +7,%d @@\n 	for _, n := range numbers {\n-		%s\n+%s\n 	}\n",
		3+strings.Count(text, "\n"), old, strings.ReplaceAll(text, "\n", "\n+"))}
	for _, test := range tests {
		f.by = append(f.by, harness{row: strings.TrimPrefix(test, "Test"), pkg: ".", test: test})
	}
	return f
}

func sampleRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(sample)
	env.OK(t, err)
	return dir
}

func TestEachOutcomeIsDistinguished(t *testing.T) {
	t.Parallel()
	const adds = "sum += n"
	sums := []harness{{pkg: ".", test: "TestSums"}}
	usual := []string{"a test fails", "it does not compile", "the text is not there", "the file is not there"}
	for name, test := range map[string]struct {
		fault fault
		want  verdict
	}{
		"a test fails":              {seeded(adds, "sum -= n", "TestSums"), verdict{fate: caught, test: "TestSums/of_t", says: "the sum is -3"}},
		"no test fails":             {seeded(adds, "sum -= n", "TestNoNumbers"), verdict{fate: missed}},
		"the second test fails":     {seeded(adds, "sum -= n", "TestNoNumbers", "TestSums/three"), verdict{fate: caught, test: "TestSums/of_three", says: "the sum is -3"}},
		"a test does not end":       {seeded(adds, "for n > 0 {\n}", "TestSums"), verdict{fate: endless, says: "test timed out"}},
		"it does not compile":       {seeded(adds, "sum -= n + m", "TestSums"), verdict{fate: broken, says: "undefined: m"}},
		"the text is not there":     {seeded("sum *= n", "sum -= n", "TestSums"), verdict{fate: unfit, says: "0 times"}},
		"the text is there twice":   {fault{by: sums, patch: "--- a/sum.go\n+++ b/sum.go\n@@ -9,1 +9,2 @@\n }\n+_ = 0\n"}, verdict{fate: unfit, says: "times, not once"}},
		"the file is not there":     {fault{by: sums, patch: "--- a/add.go\n+++ b/add.go\n@@ -1 +1 @@\n-a\n+b\n"}, verdict{fate: unfit, says: "no such file"}},
		"there is nothing to catch": {fault{by: sums}, verdict{fate: missed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(usual, name) {
				env.NeedLong(t, "it builds a program of its own")
			}
			got := trySample(t, test.fault)
			if got.fate != test.want.fate || !strings.HasPrefix(got.test, test.want.test) || !strings.Contains(got.says, test.want.says) {
				t.Errorf("it is %s by %q, who said %q", fates[got.fate], got.test, got.says)
			}
		})
	}
}

// trySample tries a fault, and fails the test where something of that is left.
func trySample(t *testing.T, f fault) verdict {
	t.Helper()
	dir := sampleRoot(t)
	before := readSample(t, dir)
	trial, err := newTrial(dir, 2*time.Second, f)
	env.OK(t, err)
	v, err := trial.try(t.Context(), f)
	if err := errors.Join(err, trial.end()); err != nil {
		t.Error(err)
	}
	_, err = os.Stat(trial.dir)
	env.ErrorIs(t, "the trial's files are left", err, os.ErrNotExist)
	if !bytes.Equal(readSample(t, dir), before) {
		t.Error("the source has changed")
	}
	return v
}

func readSample(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "sum.go"))
	env.OK(t, err)
	return b
}

func TestATrialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := seeded("sum += n", "for n > 0 {\n}", "TestNoNumbers", "TestSums")
	trial, err := newTrial(sampleRoot(t), time.Minute, f)
	env.OK(t, err)
	if v, err := trial.buildAndRun(t.Context(), f.by[0], ""); err != nil || v.fate != missed { // which builds the program
		t.Fatalf("%+v, %v", v, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err = trial.buildAndRun(ctx, f.by[1], ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	if err := trial.end(); err != nil {
		t.Error(err)
	}
}

func TestARunnerCountsTheFaultsThatWereNotCaught(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := runner{root: sampleRoot(t), limit: time.Minute, out: &out}
	found, lost := seeded("sum += n", "sum -= n", "TestSums"), seeded("sum += n", "sum -= n", "TestNoNumbers")
	if err := r.tryAll(t.Context(), []fault{found}); err != nil {
		t.Errorf("all were caught: %v", err)
	}
	if err := r.tryAll(t.Context(), []fault{found, lost}); err == nil || !strings.Contains(err.Error(), "1 of 2 faults") {
		t.Errorf("one of two was not caught: %v", err)
	}
	if err := r.control(t.Context(), []fault{found, lost}); err != nil {
		t.Errorf("without a fault all pass: %v", err)
	}
	if err := r.matrix(t.Context(), []fault{seeded("sum += n", "sum -= n", "TestSums", "TestNoNumbers"), lost}); err == nil || !strings.Contains(err.Error(), "1 of 2 faults") {
		t.Errorf("one of two was not caught by any: %v", err)
	}
	measured := found
	measured.by[0].work = "KILLS"
	if err := r.power(t.Context(), []fault{measured}); err != nil {
		t.Errorf("one is enough: %v", err)
	}
	for _, want := range []string{
		"caught          seeded: TestSums, in ", "NOT CAUGHT      seeded: TestNoNumbers, in ", "passes          TestSums, in ",
		"| `seeded` | Sums | gate | NoNumbers (not caught) |", "| `seeded` |  | none | NoNumbers (not caught) |", "| Sums | 1 | 1 |",
		"seeded                           KILLS            1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestATranscriptGivesTheCauseOfAFailure(t *testing.T) {
	t.Parallel()
	const (
		begins = "=== RUN   TestA\n    a_test.go:1: PUSHBOX_TEST_SEED=7\n=== RUN   TestA/b\n=== RUN   TestA/c\n"
		fails  = "--- FAIL: TestA (0.1s)\n    --- PASS: TestA/b (0.1s)\n    --- FAIL: TestA/c (0.1s)\nFAIL\n"
	)
	for name, test := range map[string]struct {
		out    string
		failed bool
		want   verdict
	}{
		"in a subtest":            {begins + "=== NAME  TestA/c\n    a_test.go:3: lost\n    a_test.go:4: found\n" + fails, true, verdict{fate: caught, test: "TestA/c", says: "a_test.go:3: lost"}},
		"in what it is part of":   {begins + "=== NAME  TestA\n    a_test.go:5: gone\n" + fails, true, verdict{fate: caught, test: "TestA/c", says: "a_test.go:5: gone"}},
		"without a word":          {begins + fails, true, verdict{fate: caught, test: "TestA/c"}},
		"in the system":           {begins + "fatal error: unexpected signal\n", true, verdict{fate: caught, says: "fatal error: unexpected signal"}},
		"in the time":             {begins + "panic: test timed out after 1s\n", true, verdict{fate: endless, says: "panic: test timed out after 1s"}},
		"nowhere, and yet failed": {begins, true, verdict{fate: endless, says: "it was killed, or ended without a message"}},
		"nowhere":                 {begins + "--- PASS: TestA (0.1s)\nPASS\n", false, verdict{fate: missed}},
		"it is skipped":           {"=== RUN   TestA\n    a_test.go:3: not here\n--- SKIP: TestA (0.1s)\n", false, verdict{fate: skipped, test: "TestA", says: "a_test.go:3: not here"}},
		"it is not there":         {"testing: warning: no tests to run\nPASS\n", false, verdict{fate: absent}},
		"a part skipped":          {"--- PASS: TestA (0.1s)\n    --- SKIP: TestA/b (0.1s)\nPASS\n", false, verdict{fate: missed}},
	} {
		if got := read([]byte(test.out), test.failed); got != test.want {
			t.Errorf("%s: %s by %q, who said %q", name, fates[got.fate], got.test, got.says)
		}
	}
}

func TestFileSystemsThatATestLeftAreUnmounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outer := filepath.Join(dir, "a disk")
	inner := filepath.Join(outer, "another")
	for _, path := range []string{outer, inner} {
		env.OK(t, os.Mkdir(path, 0o700))
		if said, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "none", path).CombinedOutput(); err != nil {
			t.Skipf("only root may mount, and on Linux: %v: %s", err, said)
		}
	}
	if err := unmountBelow(dir); err != nil {
		t.Error(err)
	}
	if err := os.Remove(outer); err != nil {
		t.Errorf("it is still mounted: %v", err)
	}
}

func TestAPatchWithoutItsHeadIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"headless": "diff --git a/x b/x\n", "stranger": "Wrong: It.\nCaught by: chance\n\ndiff"} {
		path := filepath.Join(dir, patches, name+".patch")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"unknown": "no fault", "headless": "does not begin", "stranger": `no harness "chance"`} {
		if _, err := load(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
