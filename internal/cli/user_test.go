package cli

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/humanize"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestAnAccountsStateIsShown(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]admin.User{
		"active":        {},
		"invited":       {Invited: true},
		"no password":   {Invited: true, LastSignInAt: time.Unix(1, 0)},
		"disabled":      {Disabled: true},
		"being removed": {Disabled: true, Removing: true},
	} {
		env.Equal(t, u, userState(u), want)
	}
}

func TestColumnsAreAligned(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	err := writeTable(&out, [][]string{{"ID", "WHEN"}, {"1", stamp(at, "never")}, {"1234", stamp(time.Time{}, "never")}})
	const want = "ID    WHEN\n1     2026-01-02T02:04:05Z\n1234  never\n"
	if err != nil || out.String() != want {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestAPasswordIsInNothingThatIsSaid(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	const marker = "hunter2-marker"
	for _, r := range []result{
		run(t, dir, marker+"\n", "user", "add", alice, "--password-stdin", "--init").want(t, exitDone),
		run(t, dir, marker+"\n", "user", "add", alice, "--password-stdin").want(t, exitFailed),
		run(t, dir, marker+"\n"+marker, "user", "passwd", alice, "--password-stdin").want(t, exitFailed),
		run(t, dir, strings.Repeat(marker, 100), "user", "passwd", alice, "--password-stdin").want(t, exitFailed),
		run(t, dir, "", "user", "add", alice, marker).want(t, exitUsage),
		run(t, dir, "", "user", "add", alice, "--password="+marker).want(t, exitUsage),
	} {
		if strings.Contains(r.stdout+r.stderr, marker) {
			t.Errorf("it said %s%s", r.stdout, r.stderr)
		}
	}
}

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
	_, err := readPassword(iotest.ErrReader(broken))
	env.ErrorIs(t, "an input that breaks", err, broken)
}

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
