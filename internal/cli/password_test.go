package cli

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestThePasswordIsTheOneLineOfStandardInput(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", record.MaxPassword)
	for input, want := range map[string]string{
		"":                          "",
		"\n":                        "",
		"correct horse":             "correct horse",
		"correct horse\n":           "correct horse",
		"correct horse\r\n":         "correct horse",
		" spaces stay  \n":          " spaces stay  ",
		longest:                     longest,
		longest + "\n":              longest,
		longest + "\r\n":            longest,
		longest + "x":               longest + "x",
		longest + "x\n":             longest + "x",
		longest + "more and more\n": longest + "mor",
	} {
		got, err := readPassword(strings.NewReader(input))
		if err != nil || got.Reveal() != want {
			t.Errorf("%.20q (%d bytes): got %d bytes, %v", input, len(input), got.Len(), err)
		}
	}
}

func TestMoreThanOneLineIsNoPassword(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"one\ntwo\n", "one\n\n", "\none"} {
		if _, err := readPassword(strings.NewReader(input)); err == nil || strings.Contains(err.Error(), "one\n") {
			t.Errorf("%q: %v", input, err)
		}
	}
	broken := errors.New("broken")
	if _, err := readPassword(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("an input that breaks: %v", err)
	}
}

func TestAPasswordHasItsLimits(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	for length, code := range map[int]int{
		record.MinPassword - 1: exitFailed, record.MinPassword: exitDone,
		record.MaxPassword: exitDone, record.MaxPassword + 1: exitFailed,
	} {
		email := strings.Repeat("a", length%50+1) + "@example.com"
		run(t, dir, strings.Repeat("x", length)+"\n", "user", "add", email, "--password-stdin", "--init").want(t, code)
	}
}
