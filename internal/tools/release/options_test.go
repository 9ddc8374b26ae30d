package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/tools/tool"
)

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown flag":   {"--verfy"},
		"an unknown system": {"--target", "plan9/amd64"},
		"an argument":       {"linux/amd64"},
	} {
		var out, notes strings.Builder
		var bad tool.UsageError
		if err := command(t.Context(), args, &out, &notes); !errors.As(err, &bad) || bad.Error() == "" || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, &out)
		}
	}
	var out, notes strings.Builder
	if err := command(t.Context(), []string{"--help"}, &out, &notes); !errors.Is(err, flag.ErrHelp) || !strings.Contains(notes.String(), "go run ./internal/tools/release --verify") {
		t.Errorf("help: %v, %q", err, &notes)
	}
}

func TestAReleaseIsForEverySystemUnlessSomeAreNamed(t *testing.T) {
	t.Parallel()
	all, err := parse(nil, nil)
	if err != nil || len(all.targets) != len(allTargets()) || filepath.Base(all.dist) != "dist" || !filepath.IsAbs(all.dist) {
		t.Errorf("%+v, %v", all, err)
	}
	two, err := parse([]string{"--target", "linux/armv7", "--target", "darwin/arm64"}, nil)
	if err != nil || len(two.targets) != 2 || two.targets[0].arm != "7" {
		t.Errorf("%+v, %v", two, err)
	}
}

func TestOnlyAReleaseIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(replaceable(dir), replaceable(filepath.Join(dir, "new"))); err != nil {
		t.Errorf("an empty or a new directory: %v", err)
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, fileMode); err != nil {
			t.Fatal(err)
		}
	}
	write("thesis.tex")
	if err := replaceable(dir); err == nil || !strings.Contains(err.Error(), "--dist") {
		t.Errorf("another directory would be replaced: %v", err)
	}
	write(sumsName)
	if err := replaceable(dir); err != nil {
		t.Errorf("a release: %v", err)
	}
}
