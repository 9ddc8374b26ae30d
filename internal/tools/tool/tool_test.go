package tool

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"pushbox/internal/testkit/env"
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

func TestAServerIsStartedOnceItListensAndIsStopped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, started, stopped string }{
		"well":        {`trap 'exit 0' TERM; echo '{"address":"a:1","message":"listening"}' >&2; while :; do sleep 0.01; done`, "", ""},
		"ended badly": {`trap 'exit 3' TERM; echo '{"address":"a:1","message":"listening"}' >&2; while :; do sleep 0.01; done`, "", "exit status 3"},
		"not started": {`echo no way >&2; exit 3`, "no way", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), t.TempDir(), "log", Environ(), "sh", "-c", test.script)
			if test.started != "" {
				if err == nil || !strings.Contains(err.Error(), test.started) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || s.URL != "http://a:1" {
				t.Fatalf("it serves at %v, %v", s, err)
			}
			for range 2 { // the second time it has ended
				if err := s.Stop(); (err != nil) != (test.stopped != "") || err != nil && !strings.Contains(err.Error(), test.stopped) {
					t.Errorf("the end is %v", err)
				}
			}
			env.ErrorIs(t, "its process is there", syscall.Kill(s.PID(), 0), syscall.ESRCH)
		})
	}
}
