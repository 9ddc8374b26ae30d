package main

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

type fate int

const (
	caught  fate = iota // a harness failed
	missed              // it passed
	skipped             // it cannot run on this machine
	endless             // it did not end within the limit
	absent              // the test does not exist
	broken              // the code with the fault, or the harness, does not compile
	unfit               // the patch does not fit the code
)

var fates = [...]string{"caught", "NOT CAUGHT", "SKIPPED", "NO END", "NO TEST", "NOT BUILT", "DOES NOT APPLY"}

// A verdict is the outcome of a fault, or of a harness that ran without a fault.
type verdict struct {
	fate fate
	by   harness       // that decided it
	test string        // the one that failed, with its subtests
	says string        // the test's first message, or the error before it ran
	took time.Duration // of the harness
	long bool          // it ran at the length of the long run
}

// The lines of a test that runs with -test.v.
var (
	turnLine  = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)
	saidLine  = regexp.MustCompile(`^\s*(\S+\.go:\d+: .*)$`)
	endedLine = regexp.MustCompile(`^\s*--- (FAIL|SKIP|PASS): (\S+) \(`)
	crashLine = regexp.MustCompile(`^(?:panic: |fatal error: |unexpected fault|SIG[A-Z]+: )`)
)

// seedMark is in the first line that many tests log; it is no message of a failure.
const seedMark = "PUSHBOX_TEST_SEED="

// read makes a verdict from the output of a test program. If the program failed, a
// test or a crash must have been the cause.
func read(out []byte, failed bool) verdict {
	said, ended := make(map[string]string), make(map[string][]string) // by test: its first message; by outcome: tests
	turn, crash := "", ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		if m := turnLine.FindStringSubmatch(line); m != nil {
			turn = m[1]
		} else if m := endedLine.FindStringSubmatch(line); m != nil {
			ended[m[1]] = append(ended[m[1]], m[2])
		} else if m := saidLine.FindStringSubmatch(line); m != nil && said[turn] == "" && !strings.Contains(line, seedMark) {
			said[turn] = m[1]
		} else if crash == "" && crashLine.MatchString(line) {
			crash = line
		}
	}
	test := leaf(ended["FAIL"])
	switch {
	case strings.Contains(crash, "test timed out"):
		return verdict{fate: endless, says: crash}
	case failed && crash != "":
		return verdict{fate: caught, test: test, says: crash}
	case failed && test != "":
		from := test
		for said[from] == "" && strings.Contains(from, "/") {
			from = path.Dir(from) // the test that it is part of
		}
		return verdict{fate: caught, test: test, says: said[from]}
	case failed:
		return verdict{fate: endless, says: "it was killed, or ended without a message"}
	case bytes.Contains(out, []byte("no tests to run")):
		return verdict{fate: absent}
	case len(ended["SKIP"]) > 0 && len(ended["PASS"]) == 0:
		test = ended["SKIP"][0]
		return verdict{fate: skipped, test: test, says: said[test]}
	}
	return verdict{fate: missed}
}

// leaf is the first failed test that has no failed subtest; empty if none failed.
func leaf(failed []string) string {
	for _, name := range failed {
		if !slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			return name
		}
	}
	return ""
}
