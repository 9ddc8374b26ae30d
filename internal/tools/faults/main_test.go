package main

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"pushbox/internal/tools/tool"
)

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown fault": {"--list", "no-such-fault"},
		"an unknown flag":  {"--lists"},
		"no time":          {"--limit", "0s", "one-view-too-many"},
	} {
		var out, notes strings.Builder
		var bad tool.UsageError
		if err := command(t.Context(), args, &out, &notes); !errors.As(err, &bad) || bad.Error() == "" || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, &out)
		}
	}
	var out, notes strings.Builder
	if err := command(t.Context(), []string{"--help"}, &out, &notes); !errors.Is(err, flag.ErrHelp) || !strings.Contains(notes.String(), "-limit time") {
		t.Errorf("help: %v, %q", err, &notes)
	}
}

func TestFaultsAreListedByName(t *testing.T) {
	t.Parallel()
	var all, one, notes strings.Builder
	err := errors.Join(command(t.Context(), []string{"--list"}, &all, &notes), command(t.Context(), []string{"--list", "one-view-too-many"}, &one, &notes))
	if want := "one-view-too-many  "; err != nil || !strings.Contains(one.String(), want) || !strings.Contains(all.String(), want) {
		t.Errorf("%v, %q", err, &one)
	}
	if n := strings.Count(all.String(), "\n") - strings.Count(one.String(), "\n"); n != len(faults(t))-1 {
		t.Errorf("%d more lines for all of %d faults", n, len(faults(t)))
	}
}
