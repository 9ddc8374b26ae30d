package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/emersion/go-smtp"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
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
	env.ErrorIs(t, "a list that cannot be written", (&app{stdout: fullDisk{}}).listProblems([]string{"one"}), errFullDisk)
}

// mailSettings writes a configuration for a mail server, and returns its name.
func mailSettings(t *testing.T, s *mailtest.Server, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	ca, password := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "password")
	lines := append([]string{
		"base_url: https://push.example.org", "mail:", "  host: " + s.Host, "  port: " + strconv.Itoa(s.Port), "  from: push@example.org", "  ca_file: " + ca,
	}, more...)
	name := filepath.Join(dir, "config.yaml")
	for file, text := range map[string]string{ca: string(s.PEM), password: "right\n", name: strings.ReplaceAll(strings.Join(lines, "\n"), "DIR", dir) + "\n"} {
		env.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return name
}

func TestMailTestSaysWhetherMailIsTaken(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, User: "push", Refuse: func(to string, _ int) *smtp.SMTPError {
		if strings.HasPrefix(to, "gone") {
			return mailtest.Reply(550, "there is no "+to)
		}
		return nil
	}})
	signedIn := mailSettings(t, s, "  user: push", "  password_file: DIR/password")
	run(t, t.TempDir(), "", "mail", "test", "bob@example.net", "--config", signedIn).want(t, exitDone, "accepted the mail after")
	if got := s.Mails(); len(got) != 1 || got[0].To != "bob@example.net" || got[0].From != "push@example.org" {
		t.Errorf("it took %+v", got)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"a refused one":      {[]string{"gone@example.net", "--config", signedIn}, exitFailed, []string{"the server said: ", "there is no gone@example.net", "refuses the mail permanently", "hint:"}},
		"no password":        {[]string{"bob@example.net", "--config", mailSettings(t, s)}, exitFailed, []string{"refuses mail from the address mail.from"}},
		"a file of nothing":  {[]string{"bob@example.net", "--config", mailSettings(t, s, "  user: push", "  password_file: DIR/none")}, exitFailed, []string{"mail.password_file", "no such file"}},
		"no mail":            {[]string{"bob@example.net"}, exitFailed, []string{"mail.host is empty", "hint:"}},
		"no address":         {[]string{"Bob <bob@example.net>", "--config", signedIn}, exitUsage, []string{"ADDRESS is not an e-mail address"}},
		"a password as CA":   {[]string{"bob@example.net", "--config", badCA(t, signedIn)}, exitFailed, []string{"mail.ca_file", "has no certificate"}},
		"more than one word": {[]string{"a@b.example", "c@d.example", "--config", signedIn}, exitUsage, nil},
	} {
		got := run(t, t.TempDir(), "", append([]string{"mail", "test"}, test.args...)...)
		if got.code != test.code {
			t.Errorf("%s: exit code %d: %s", name, got.code, got.stderr)
		}
		for _, text := range test.says {
			if !strings.Contains(got.stderr, text) {
				t.Errorf("%s: it says %s", name, got.stderr)
			}
		}
	}
}

// badCA is a configuration like another one, whose ca_file has no certificate.
func badCA(t *testing.T, like string) string {
	t.Helper()
	text := env.Read(t, like)
	name := filepath.Join(t.TempDir(), "config.yaml")
	env.OK(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "ca.pem", "password")), 0o600))
	return name
}
