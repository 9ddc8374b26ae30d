package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// terminalPair is a terminal, and the window that shows it.
func terminalPair(t *testing.T) (window, terminal *os.File) {
	t.Helper()
	window, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = window.Close() })
	n := env.Must(unix.IoctlGetInt(int(window.Fd()), unix.TIOCGPTN))(t)
	env.OK(t, unix.IoctlSetPointerInt(int(window.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return window, terminal
}

// TestAHangupEndsAServerWhoseTerminalIsGone, and one whose terminal is there reloads.
func TestAHangupEndsAServerWhoseTerminalIsGone(t *testing.T) {
	t.Parallel()
	window, terminal := terminalPair(t)
	hangups := make(chan os.Signal)
	lost := lostTerminal(terminal)
	if lost == nil || lost() {
		t.Fatal("the terminal is none")
	}
	reloads := make(chan struct{}, 1)
	part := func(config.Config) (func(), error) { return func() { reloads <- struct{}{} }, nil }
	d := daemon{hangups: hangups, terminalGone: lost, reloads: newReloader(Options{Config: config.Default()}, zerolog.Nop(), part)}
	obeys := begin(context.Background(), d.obey)
	hangups <- syscall.SIGHUP
	<-reloads
	env.OK(t, window.Close())
	hangups <- syscall.SIGHUP
	select {
	case <-obeys.done:
	case <-soon(t).Done():
		t.Error("it goes on")
	}
	if err := obeys.stop(); err != nil || len(reloads) != 0 {
		t.Errorf("it ended with %v, and reloaded %d times more", err, len(reloads))
	}
}

const hardenedChild = "PUSHBOX_TEST_HARDENED"

// The child is this test again, in a process of its own: what a server does to its
// process holds for the whole process and cannot be undone.
func TestAServerCannotBeDumpedAndMakesNoFilesForOthers(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(hardenedChild); dir != "" {
		tellHowHardened(t, dir)
		return
	}
	cmd := exec.CommandContext(soon(t), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), hardenedChild+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, after, _ := strings.Cut(string(out), "\n")
	if want := "dumpable: 1, umask: 022, core dumps: "; !strings.HasPrefix(before, want) {
		t.Errorf("before it was %q", before)
	}
	if want := "dumpable: 0, umask: 077, core dumps: 0 of 0 bytes\n"; !strings.HasPrefix(after, want) {
		t.Errorf("the server's process is %q", after)
	}
}

// tellHowHardened tells what the process is like before and after a server
// starts in it, which then ends at once.
func tellHowHardened(t *testing.T, dir string) {
	unix.Umask(0o022)
	env.OK(t, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
	tell := func() {
		var core unix.Rlimit
		env.OK(t, unix.Getrlimit(unix.RLIMIT_CORE, &core))
		dumpable := env.Must(unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0))(t)
		mask := unix.Umask(0)
		unix.Umask(mask)
		fmt.Printf("dumpable: %d, umask: %03o, core dumps: %d of %d bytes\n", dumpable, mask, core.Cur, core.Max)
	}
	tell()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stderr bytes.Buffer
	_ = Run(ctx, Options{Config: settingsFor(dir), Stderr: &stderr})
	if strings.Contains(stderr.String(), "core dump") {
		t.Error(stderr.String())
	}
	tell()
}
