package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// The lines of a test that runs with -test.v.
var (
	turnLine  = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)
	saidLine  = regexp.MustCompile(`^\s*(\S+\.go:\d+: .*)$`)
	endedLine = regexp.MustCompile(`^\s*--- (FAIL|SKIP|PASS): (\S+) \(`)
	crashLine = regexp.MustCompile(`^(?:panic: |fatal error: |unexpected fault|SIG[A-Z]+: )`)
)

// seedMark is in the first line that many tests log; it is no message of a failure.
const seedMark = "PUSHBOX_TEST_SEED="

// A transcript is the output of a test program.
type transcript struct {
	said  map[string]string // by test: its first message
	ended map[string][]string
	crash string
}

// read makes a verdict from the output of a test program. If the program failed, a
// test or a crash must have been the cause.
func read(out []byte, failed bool) verdict {
	t := readTranscript(out)
	test := leaf(t.ended["FAIL"])
	switch {
	case strings.Contains(t.crash, "test timed out"):
		return verdict{fate: endless, says: t.crash}
	case failed && t.crash != "":
		return verdict{fate: caught, test: test, says: t.crash}
	case failed && test != "":
		return verdict{fate: caught, test: test, says: t.firstOf(test)}
	case failed:
		return verdict{fate: endless, says: "it was killed, or ended without a message"}
	case bytes.Contains(out, []byte("no tests to run")):
		return verdict{fate: absent}
	case len(t.ended["SKIP"]) > 0 && len(t.ended["PASS"]) == 0:
		test = t.ended["SKIP"][0]
		return verdict{fate: skipped, test: test, says: t.said[test]}
	default:
		return verdict{fate: missed}
	}
}

func readTranscript(out []byte) transcript {
	t := transcript{said: make(map[string]string), ended: make(map[string][]string)}
	turn := ""
	for line := range bytes.Lines(out) {
		text := strings.TrimRight(string(line), "\r\n")
		if m := turnLine.FindStringSubmatch(text); m != nil {
			turn = m[1]
		} else if m := endedLine.FindStringSubmatch(text); m != nil {
			t.ended[m[1]] = append(t.ended[m[1]], m[2])
		} else if m := saidLine.FindStringSubmatch(text); m != nil && t.said[turn] == "" && !strings.Contains(text, seedMark) {
			t.said[turn] = m[1]
		} else if t.crash == "" && crashLine.MatchString(text) {
			t.crash = text
		}
	}
	return t
}

// leaf is the first failed test that has no failed subtest.
func leaf(failed []string) string {
	i := slices.IndexFunc(failed, func(name string) bool {
		return !slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
	if i < 0 {
		return ""
	}
	return failed[i]
}

// firstOf is the first message of a test, or else of a test that it is part of.
func (t transcript) firstOf(test string) string {
	for t.said[test] == "" && strings.Contains(test, "/") {
		test = test[:strings.LastIndexByte(test, '/')]
	}
	return t.said[test]
}

// firstError is the first error of the compiler.
func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "it does not build, without a message"
}
