package main

import "testing"

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
		"a part skipped":          {"--- PASS: TestA (0.1s)\n    --- SKIP: TestA/b (0.1s)\nPASS\n", false, verdict{fate: missed}},
	} {
		if got := read([]byte(test.out), test.failed); got != test.want {
			t.Errorf("%s: %s by %q, who said %q", name, fates[got.fate], got.test, got.says)
		}
	}
}
