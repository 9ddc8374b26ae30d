// Package tool runs the commands of this repository that are not pushbox.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// A UsageError says which argument cannot be.
type UsageError string

// Error is what is wrong, for whoever gave the arguments.
func (e UsageError) Error() string { return string(e) }

// A Command does what arguments ask for. What was found goes to out, all else to
// notes. Its context ends at the first signal.
type Command func(ctx context.Context, args []string, out, notes io.Writer) error

// Run runs a command with the arguments of this process, writes its error to
// standard error behind the tool's name, and returns the exit code: 0; 2 for a
// UsageError; 1 for any other. Asking for help is no error.
func Run(name string, command Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return exitCode(name, command(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
}

func exitCode(name string, err error, notes io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(notes, "%s: %v\n", name, err)
	if bad := UsageError(""); errors.As(err, &bad) {
		return 2
	}
	return 1
}
