// Package env reads from the environment the length of long tests, and the seed of
// random ones. It also gives tests a clock, addresses, and a directory with a short path.
package env

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen, before it fails. It only turns a hang into a failure: no test may be faster than it to pass.
const Patience = 2 * time.Minute

// Seed is the value of PUSHBOX_TEST_SEED, else random. It is in the test's log, so that a
// failure can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	const name = "PUSHBOX_TEST_SEED"
	seed := Number(t, name, rand.Uint64()>>1)
	t.Logf("%s=%d", name, seed)
	return seed
}

// Number is the value of an environment variable, else another one. A value that is not a number fails
// the test.
func Number(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// ShortDir is a temporary directory whose path leaves room for a socket: that of
// t.TempDir has the test's name in it.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
