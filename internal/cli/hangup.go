package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"pushbox/internal/admin"
)

// listenForHangups takes SIGHUP from now on, and has it end nothing, until ignore
// is called. Windows has no such signal, and none comes.
func listenForHangups() (hangups <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1) // one that waits is enough: it reads what is there by then
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// lostTerminal returns what tells that the terminal behind w is gone; nil if there
// is none.
func lostTerminal(w io.Writer) func() bool {
	if !isTerminal(w) {
		return nil
	}
	return func() bool { return !isTerminal(w) }
}

// obey reloads the configuration at each SIGHUP until ctx ends. It returns before
// that if the signal says that the terminal is gone: somebody who closes a window
// wants to end what runs in it.
func (d *daemon) obey(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.hangups:
			if d.lost != nil && d.lost() {
				return nil
			}
			_, _ = d.reloads.reload(ctx, admin.None{}) // the log has what came of it
		}
	}
}
