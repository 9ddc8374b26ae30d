package cli

import (
	"strings"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
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
		if got := userState(u); got != want {
			t.Errorf("%+v: %s", u, got)
		}
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
