package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
)

func TestAPasswordIsAskedForTwiceAndNeverShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, typed, want, err string }{
		{"the same twice", "hunter2-marker\rhunter2-marker\r", "hunter2-marker", ""},
		{"lines that end otherwise", "hunter2-marker\nhunter2-marker\n", "hunter2-marker", ""},
		{"corrected while typed", "hunter2-markex\x7fr\rhunter2-marker\r", "hunter2-marker", ""},
		{"other letters", "pässwört-marker\rpässwört-marker\r", "pässwört-marker", ""},
		{"nothing", "\r\r", "", ""},
		{"another", "hunter2-marker\rhunter3-marker\r", "", "the two passwords differ"},
		{"Ctrl-C", "hunter2-marker\x03", "", "interrupted"},
		{"Ctrl-D", "hunter2-marker\r\x04", "", "interrupted"},
		{"the end", "hunter2-marker", "", "interrupted"},
	} {
		c, out, restored := typist(strings.NewReader(test.typed))
		got, err := c.twice(t.Context(), "Password")
		if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
		env.Equal(t, test.name+": got", got.Reveal(), test.want)
		if strings.Contains(out.String(), "marker") || !strings.Contains(out.String(), "Password: ") {
			t.Errorf("%s: the terminal showed %q", test.name, out)
		}
		if *restored != 1 {
			t.Errorf("%s: the terminal was restored %d times", test.name, *restored)
		}
	}
}

func TestASignalEndsAQuestionAndRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	silent, hangUp := io.Pipe() // a terminal at which nothing is typed
	t.Cleanup(func() { _ = hangUp.Close() })
	c, _, restored := typist(silent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.twice(ctx, "Password")
	env.ErrorIs(t, "it", err, context.Canceled)
	if *restored != 1 {
		t.Errorf("the terminal was restored %d times", *restored)
	}
}

func TestATerminalThatCannotBeSwitchedIsAnError(t *testing.T) {
	t.Parallel()
	c, _, _ := typist(strings.NewReader("x\rx\r"))
	broken := errors.New("broken")
	c.raw = func() (func() error, error) { return nil, broken }
	_, err := c.twice(t.Context(), "Password")
	env.ErrorIs(t, "it", err, broken)
}

func TestOnlyTheSameAddressConfirmsARemoval(t *testing.T) {
	t.Parallel()
	for typed, ok := range map[string]bool{
		alice + "\r":                true,
		" Alice@Example.com\t\r":    true,
		"bob@example.com\r":         false,
		"\r":                        false,
		"y\r":                       false,
		strings.ToUpper(alice):      false, // and no Enter
		alice[:len(alice)-1] + "\r": false,
	} {
		c, out, _ := typist(strings.NewReader(typed))
		err := (&app{console: c}).confirm(t.Context(), alice, "destroys it")
		if (err == nil) != ok {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.Contains(out.String(), "This destroys it.") {
			t.Errorf("%q: the terminal showed %q", typed, out)
		}
	}
}

func TestWithoutATerminalARemovalIsRefused(t *testing.T) {
	t.Parallel()
	a := &app{console: newConsole(strings.NewReader(alice+"\n"), io.Discard)}
	if err := a.confirm(t.Context(), alice, "destroys it"); exitCode(err) != exitUsage || hint.Of(err) != "if that is what you want, add --yes" {
		t.Errorf("%v", err)
	}
}

func TestACommandWaitsForAServerThatIsStopping(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir)) // a server that has closed its socket already
	release := time.AfterFunc(3*lockWait, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	defer release.Stop()
	r := run(t, dir, "", "user", "list").want(t, exitDone)
	env.Contains(t, "the list", r.stdout, alice)
}

func TestACommandWaitsForAServerThatIsStarting(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir)) // a server that has not made its socket yet
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	time.AfterFunc(3*lockWait, func() {
		l, err := admin.Listen(ctx, admin.SocketPath(dir))
		if err == nil {
			err = admin.Serve(ctx, l, s)
		}
		ended <- err
	})
	run(t, dir, "", "user", "disable", alice).want(t, exitDone)
	users, err := s.Accounts(t.Context())
	if err != nil || len(users) != 1 || !users[0].Disabled {
		t.Errorf("the server's store has %+v, %v", users, err)
	}
	cancel()
	env.OK(t, <-ended)
	closed(t, s)
}

func TestACommandDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir))
	defer closed(t, s)
	start := time.Now()
	run(t, dir, "", "user", "list").want(t, exitInUse, "in use by another process", "hint: a server is starting or stopping")
	if took := time.Since(start); took < patience {
		t.Errorf("it gave up after %v", took)
	}
}

func TestACommandThatIsInterruptedEnds(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	code := Main(ctx, []string{"user", "list", "--data-dir", dir}, strings.NewReader(""), &out, &out, nil)
	result{code, "", out.String()}.want(t, exitFailed, "hint: it was interrupted")
}

func TestADirectoryTooDeepForASocketIsAnErrorThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(env.ShortDir(t), strings.Repeat("d", 100))
	for _, args := range [][]string{{"user", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		run(t, dir, "", args...).want(t, exitFailed, "the path of the socket is too long", "this platform allows 1", "hint: choose a shorter --data-dir")
	}
	if _, err := admin.NewClient(admin.SocketPath(dir)); !errors.Is(err, admin.ErrPathTooLong) {
		t.Error(err)
	}
}

// runPackaged runs a command where the settings file of a packaged service may be.
func runPackaged(t *testing.T, packaged string, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr, environ: environ, console: newConsole(strings.NewReader(""), &stderr), packaged: packaged}
	code := a.run(t.Context(), args, strings.NewReader(""))
	return result{code, stdout.String(), stderr.String()}
}

// settingsFile makes a settings file for a data directory.
func settingsFile(t *testing.T, dataDir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	env.OK(t, os.WriteFile(file, []byte("data_dir: "+dataDir+"\n"), 0o600))
	return file
}

func TestWhereNoPlaceIsNamedThePackagedServiceIsMeant(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	file := settingsFile(t, dir)
	const said = "using "
	r := runPackaged(t, file, nil, "user", "list").want(t, exitDone, said+file)
	env.Contains(t, "the list", r.stdout, alice)
	r = runPackaged(t, file, nil, "events").want(t, exitDone)
	if n := strings.Count(r.stderr, said); n != 1 {
		t.Errorf("it says it %d times:\n%s", n, r.stderr)
	}
	other := filepath.Join(t.TempDir(), "other")
	for name, r := range map[string]result{
		"--data-dir":       runPackaged(t, file, nil, "user", "list", "--data-dir", other),
		"--config":         runPackaged(t, file, nil, "user", "list", "--config", settingsFile(t, other)),
		"PUSHBOX_DATA_DIR": runPackaged(t, file, []string{"PUSHBOX_DATA_DIR=" + other}, "user", "list"),
		"PUSHBOX_CONFIG":   runPackaged(t, file, []string{"PUSHBOX_CONFIG=" + settingsFile(t, other)}, "user", "list"),
		"no such file":     runPackaged(t, file+"x", []string{"PUSHBOX_DATA_DIR=" + other}, "user", "list"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r.want(t, exitFailed, "there is no database in "+other); strings.Contains(r.stderr, said) {
				t.Errorf("it says\n%s", r.stderr)
			}
		})
	}
}

// A file that cannot be read is the error, and not a reason to use another place.
func TestAPackagedFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(settingsFile(t, t.TempDir()), "below")
	runPackaged(t, file, nil, "user", "list").want(t, exitUsage, file, "not a directory")
}
