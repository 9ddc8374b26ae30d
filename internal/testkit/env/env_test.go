package env

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestTheEnvironmentSetsLengthAndSeed(t *testing.T) {
	const name = "PUSHBOX_TEST_KILLS"
	row := Works()[slices.IndexFunc(Works(), func(w Work) bool { return w.Name == name })]
	t.Setenv(long, "")
	if n := Length(t, name); n != row.Usual {
		t.Errorf("without a variable it is %d", n)
	}
	t.Setenv(long, "1")
	if n := Length(t, name); n != row.Long {
		t.Errorf("in the long run it is %d", n)
	}
	t.Setenv(name, "1000")
	if n := Length(t, name); n != 1000 {
		t.Errorf("with 1000 in the environment it is %d", n)
	}
	t.Setenv("PUSHBOX_TEST_SEED", "42")
	if n := Seed(t); n != 42 {
		t.Errorf("the seed is %d", n)
	}
}

func TestALengthOf0SkipsATest(t *testing.T) {
	t.Setenv("PUSHBOX_TEST_KILLS", "0")
	skipped := false
	t.Run("a test", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Length(t, "PUSHBOX_TEST_KILLS")
	})
	if !skipped {
		t.Error("it is not skipped")
	}
}

func TestAUsualLengthIsTwiceTheLeast(t *testing.T) {
	t.Parallel()
	for _, w := range Works() {
		if w.Usual != 0 && w.Usual < min(2*w.Least, w.Long) {
			t.Errorf("%s: %d is not twice %d", w.Name, w.Usual, w.Least)
		}
	}
}

func TestWorksAreSortedAndTheLongRunIsTheLonger(t *testing.T) {
	t.Parallel()
	works := Works()
	if !slices.IsSortedFunc(works, func(a, b Work) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("they are not in the order of their names")
	}
	for _, w := range works {
		if w.Usual > w.Long || !strings.HasPrefix(w.Name, "PUSHBOX_TEST_") || w.What == "" {
			t.Errorf("this row is wrong: %v", w)
		}
	}
}

func TestFreeAddressesDifferAndCanBeTaken(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for range 20 {
		address := FreeAddress(t)
		if c, err := net.Dial("tcp", address); err == nil {
			t.Errorf("%s takes connections", c.RemoteAddr())
		}
		if l, err := net.Listen("tcp", address); err != nil || l.Close() != nil || seen[address] {
			t.Errorf("%s: %v", address, err)
		}
		seen[address] = true
	}
}
