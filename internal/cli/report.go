package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/store"
	"pushbox/store/seal"
)

// The exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitProblems = 3
	exitInUse    = 75 // EX_TEMPFAIL of sysexits.h
)

// A hintedError is an error that knows what to do next.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

func withHint(err error, format string, args ...any) error {
	return &hintedError{err, fmt.Sprintf(format, args...)}
}

// report says what came of cmd, and returns the exit code.
func (a *app) report(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	text := strings.ReplaceAll(err.Error(), "\n", "\n  ")
	fmt.Fprintf(a.stderr, "pushbox: %s\nhint: %s\n", text, hint(cmd, err))
	return exitCode(err)
}

func exitCode(err error) int {
	usage, settings, problems := (*usageError)(nil), (*config.ProblemsError)(nil), problemsError(0)
	switch {
	case errors.As(err, &usage), errors.As(err, &settings):
		return exitUsage
	case errors.As(err, &problems):
		return exitProblems
	case errors.Is(err, store.ErrInUse):
		return exitInUse
	default:
		return exitFailed
	}
}

// hint is what to do about an error: what the command knows, or else what its
// kind tells.
func hint(cmd *cobra.Command, err error) string {
	if h := (*hintedError)(nil); errors.As(err, &h) {
		return h.hint
	}
	if p := (*config.ProblemsError)(nil); errors.As(err, &p) {
		return "correct these settings; config.example.yaml names all of them"
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "listen" && errors.Is(err, fs.ErrPermission) {
		return portHint
	}
	for _, known := range hints() {
		if errors.Is(err, known.err) {
			return known.hint
		}
	}
	if u := (*usageError)(nil); errors.As(err, &u) {
		return "run: " + cmd.CommandPath() + " --help"
	}
	return "mend that, then run the command again"
}

type knownHint struct {
	err  error
	hint string
}

func hints() []knownHint {
	return []knownHint{
		{context.Canceled, "it was interrupted; run the command again"},
		{errInterrupted, "run the command again"},
		{context.DeadlineExceeded, "it took too long; run the command again when the machine is less busy"},
		{store.ErrInUse, "a server is starting or stopping, or another program holds the file; stop it or try again"},
		{store.ErrKey, "put your copy of this database's key back; without it nothing in it can be read"},
		{seal.ErrKey, "the key must be whole, as `pushbox serve` made it, and its file for its owner alone (chmod 600); put your copy of it back if it is damaged"},
		{store.ErrSchema, "use the version of pushbox that wrote it"},
		{store.ErrCorrupt, "keep the damaged file for examination and restore a backup"},
		{store.ErrBusy, "try again in a moment"},
		{store.ErrFull, "make room on the disk, or raise max_store_size"},
		{store.ErrFailed, "see the server's log, look after the disk, then start the server again"},
		{store.ErrClosed, "the server is stopping; run the command again"},
		{admin.ErrUnknown, "restart the server with the version that this command has"},
		{admin.ErrSilent, "see the server's log and look after its disk; if it hangs, start it again"},
		{admin.ErrPathTooLong, "choose a shorter --data-dir, or one relative to the current directory"},
		{admin.ErrNotSocket, "move it away and start again"},
		{syscall.EADDRINUSE, "stop the program that listens there, or choose another address with --listen"},
		{fs.ErrPermission, "run it as the user who owns the data directory"},
	}
}
