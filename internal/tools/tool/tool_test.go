package tool

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"testing"
)

func TestTheExitCodeTellsHowItEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		code int
		said string
	}{
		"well":             {nil, 0, ""},
		"help":             {flag.ErrHelp, 0, ""},
		"usage":            {UsageError("no such thing"), 2, "x: no such thing\n"},
		"usage, explained": {fmt.Errorf("y: %w", UsageError("no such thing")), 2, "x: y: no such thing\n"},
		"badly":            {errors.New("it broke"), 1, "x: it broke\n"},
	} {
		var notes bytes.Buffer
		if code := exitCode("x", test.err, &notes); code != test.code || notes.String() != test.said {
			t.Errorf("%s: exit code %d, %q", name, code, &notes)
		}
	}
}
