package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
)

func TestEachFailureHasItsExitCodeAndANextStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		code int
		hint string
	}{
		{errors.New("odd"), exitFailed, "correct what"},
		{usagef("wrong"), exitUsage, "run: pushbox --help"},
		{hint.With(usagef("wrong"), "do %s", "so"), exitUsage, "do so"},
		{hint.With(problemsError(2), "restore"), exitProblems, "restore"},
		{record.ErrInUse, exitInUse, "stop it or try again"},
		{hint.With(record.ErrInUse, "do so"), exitInUse, "do so"},
		{record.ErrKey, exitFailed, "put your copy"},
		{seal.ErrKey, exitFailed, "put your copy"},
		{record.ErrSchema, exitFailed, "the build of pushbox that wrote it, or restore a backup"},
		{record.ErrCorrupt, exitFailed, "restore a backup"},
		{record.ErrFull, exitFailed, "make room"},
		{record.ErrFailed, exitFailed, "start the server again"},
		{postgres.ErrRefused, exitFailed, "createdb --owner"},
		{record.ErrLost, exitFailed, "do not stop the server; run `pushbox backup FILE` now"},
		{record.ErrClosed, exitFailed, "run the command again"},
		{record.ErrBusy, exitFailed, "try again"},
		{admin.ErrUnknown, exitFailed, "restart the server"},
		{admin.ErrSilent, exitFailed, "the server's log"},
		{admin.ErrPathTooLong, exitFailed, "shorter"},
		{admin.ErrNotSocket, exitFailed, "move it away"},
		{syscall.ENOSPC, exitFailed, "make room"},
		{fs.ErrPermission, exitFailed, "the user that owns"},
		{context.Canceled, exitFailed, "interrupted"},
		{context.DeadlineExceeded, exitFailed, "too long"},
		{&config.ProblemsError{Problems: make([]config.Problem, 1)}, exitUsage, "correct these settings; `pushbox config init FILE`"},
		{&config.ProblemsError{Unread: fs.ErrNotExist}, exitUsage, "check the path; `pushbox config init FILE`"},
		{&config.ProblemsError{Unread: fs.ErrPermission}, exitUsage, "chmod 640 FILE"},
	} {
		for _, err := range []error{test.err, fmt.Errorf("more words: %w", test.err), errors.Join(test.err, errors.New("and more"))} {
			var stderr bytes.Buffer
			a := &app{stderr: &stderr}
			if code := a.report(a.root(), err); code != test.code {
				t.Errorf("%v: exit code %d, want %d", err, code, test.code)
			}
			said, hint, ok := strings.Cut(stderr.String(), "\nhint: ")
			if !ok || !strings.HasPrefix(said, "pushbox: ") || !strings.Contains(hint, test.hint) || !strings.HasSuffix(hint, "\n") {
				t.Errorf("%v: said %q", err, &stderr)
			}
		}
	}
}

func TestSuccessSaysNothing(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if code := (&app{stderr: &stderr}).report(nil, nil); code != exitDone || stderr.Len() != 0 {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}

func TestProblemsAreCountedAndListed(t *testing.T) {
	t.Parallel()
	for problems, want := range map[string]string{"": "", "one": "1 problem found", "one,two": "2 problems found"} {
		var stdout, stderr bytes.Buffer
		a := &app{stdout: &stdout, stderr: &stderr}
		list := strings.FieldsFunc(problems, func(r rune) bool { return r == ',' })
		err := a.listProblems(list)
		if want == "" {
			if err != nil || stdout.Len() != 0 || stderr.String() != "pushbox: no problems found\n" {
				t.Errorf("without problems: %v, %q, %q", err, &stdout, &stderr)
			}
			continue
		}
		if err == nil || err.Error() != want || exitCode(err) != exitProblems {
			t.Errorf("%s: %v", problems, err)
		}
		if got := strings.Join(strings.Fields(stdout.String()), ","); got != problems {
			t.Errorf("%s: listed %q", problems, &stdout)
		}
	}
	if err := (&app{stdout: fullDisk{}}).listProblems([]string{"one"}); !errors.Is(err, errFullDisk) {
		t.Errorf("a list that cannot be written: %v", err)
	}
}
