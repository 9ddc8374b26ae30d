package cli

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/internal/humanize"
)

func TestALifetimeIsReadInDaysOrAsADuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90d": 90 * humanize.Day, "1d": humanize.Day, "36500d": maxLifetime, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute, "1ns": 1,
		"0": 0, "0d": 0, "-1d": 0, "-1h": 0, "36501d": 0, "876000h1ns": 0, "99999999999999999999d": 0,
		"": 0, "d": 0, "90": 0, "1.5d": 0, "1d12h": 0, "tomorrow": 0,
	} {
		got, err := parseLifetime(text)
		if (err == nil) != (want > 0) || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestATokenIsAloneOnStandardOutput(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	made := run(t, dir, "", "token", "create", alice, "--name", "laptop", "--expires", "1h").want(t, exitDone, "made token 1, expires: 20")
	if !regexp.MustCompile(`^pb_[a-z2-7]{52}\n$`).MatchString(made.stdout) || strings.Contains(made.stderr, "pb_") {
		t.Errorf("standard output is %q, standard error %q", made.stdout, made.stderr)
	}
	list := run(t, dir, "", "token", "list", alice).want(t, exitDone)
	if !strings.HasPrefix(list.stdout, "ID  LABEL   SCOPE  CREATED") || strings.Contains(list.stdout, "pb_") {
		t.Errorf("the list is\n%s", list.stdout)
	}
}

// A fullDisk takes nothing.
type fullDisk struct{}

var errFullDisk = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFullDisk }

func TestATokenThatCannotBePrintedIsAFailureThatNamesIt(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"token", "create", alice, "--data-dir", dir}, strings.NewReader(""), fullDisk{}, &stderr, nil)
	result{code, "", stderr.String()}.want(t, exitFailed, "token 1 was made, but could not be printed", "hint: run: pushbox token revoke 1")
}

func TestALabelThatCannotBeShownIsRefused(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	for _, label := range []string{"a\nb", "a\tb", "\x1b[31m", "\xff"} {
		run(t, dir, "", "token", "create", alice, "--name", label).want(t, exitUsage, "--name has characters that cannot be shown")
	}
	run(t, dir, "", "token", "create", alice, "--name", strings.Repeat("x", 101)).want(t, exitFailed, "name is too long", "hint: correct it")
	run(t, dir, "", "token", "create", alice, "--name", strings.Repeat("x", 100)).want(t, exitDone)
}
