package daemon

import (
	"context"
	"fmt"
	"os"
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
	n, err := unix.IoctlGetInt(int(window.Fd()), unix.TIOCGPTN)
	env.OK(t, err)
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
