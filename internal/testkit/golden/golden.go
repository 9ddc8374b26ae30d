// Package golden compares the output of tests with files of the repository. With the
// flag -update a test writes its file instead:
//
//	go test ./internal/metrics -update
package golden

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// Update reports whether tests must write their files.
func Update() bool { return *update }

// File fails the test unless the file has the text. With -update it writes the file.
func File(t testing.TB, name, text string) {
	t.Helper()
	if Update() {
		env.OK(t, os.WriteFile(name, []byte(text), 0o644))
		return
	}
	have := env.Read(t, name)
	if string(have) != text {
		t.Errorf("%s is stale at line %d; -update writes it", name, firstDifference(string(have), text))
	}
}

// Section fails the test unless the file has the text between two lines. Each
// of the two occurs once. With -update it writes the text between them.
func Section(t testing.TB, name, begins, ends, text string) {
	t.Helper()
	have := env.Read(t, name)
	before, rest, begun := strings.Cut(string(have), begins+"\n")
	_, after, ended := strings.Cut(rest, ends+"\n")
	if !begun || !ended {
		t.Fatalf("%s has no lines %q and %q", name, begins, ends)
	}
	File(t, name, before+begins+"\n"+text+ends+"\n"+after)
}

// Digest fails the test unless the file has a line of that number and the digest of the text.
// With -update it adds a number that is not there, and changes none that is: what has a number
// is out.
func Digest(t testing.TB, name string, number int, text string) {
	t.Helper()
	have, err := os.ReadFile(name)
	if err != nil && !Update() {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%d %x\n", number, sha256.Sum256([]byte(text)))
	switch {
	case strings.Contains("\n"+string(have), "\n"+line):
	case strings.Contains("\n"+string(have), fmt.Sprintf("\n%d ", number)):
		t.Errorf("%s has another digest for %d: take the next number, and then -update", name, number)
	case Update():
		env.OK(t, os.WriteFile(name, append(have, line...), 0o644))
	default:
		t.Errorf("%s does not have %d; -update adds it", name, number)
	}
}

// firstDifference is the number of the first line in which two texts differ.
func firstDifference(a, b string) int {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return i + 1
		}
	}
	return min(len(as), len(bs))
}
