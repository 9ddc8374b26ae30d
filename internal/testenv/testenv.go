// Package testenv reads from the environment how long tests are to run, and what
// the ones that go by chance begin with.
package testenv

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Length is how much a test is to do: what the environment says under name,
// else short with go test -short, else ordinary. What is no number fails the test.
func Length(t testing.TB, name string, ordinary, short uint64) uint64 {
	t.Helper()
	if testing.Short() {
		ordinary = short
	}
	return number(t, name, ordinary)
}

// Seed is what PUSHBOX_TEST_SEED says, else a number by chance. It is in the
// test's log, so that a failure can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	const name = "PUSHBOX_TEST_SEED"
	seed := number(t, name, rand.Uint64()>>1)
	t.Logf("%s=%d", name, seed)
	return seed
}

func number(t testing.TB, name string, otherwise uint64) uint64 {
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
