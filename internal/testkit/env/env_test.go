package env

import (
	"testing"
)

func TestTheEnvironmentSetsLengthAndSeed(t *testing.T) {
	const name = "PUSHBOX_TEST_EXAMPLE"
	want := uint64(7)
	if testing.Short() {
		want = 2
	}
	if n := Length(t, name, 7, 2); n != want {
		t.Errorf("without a variable it is %d", n)
	}
	t.Setenv(name, "1000")
	if n := Length(t, name, 7, 2); n != 1000 {
		t.Errorf("with 1000 in the environment it is %d", n)
	}
	t.Setenv("PUSHBOX_TEST_SEED", "42")
	if n := Seed(t); n != 42 {
		t.Errorf("the seed is %d", n)
	}
}
