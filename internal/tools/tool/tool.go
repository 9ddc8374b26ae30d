// Package tool runs the commands of this repository that are not part of the product.
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

// A UsageError says which argument is wrong.
type UsageError string

// Error is the message for the user.
func (e UsageError) Error() string { return string(e) }

// Usagef formats a UsageError.
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// A Command runs with arguments. Results go to out, everything else to notes. Its
// context ends at the first signal.
type Command func(ctx context.Context, args []string, out, notes io.Writer) error

// Run runs a command with the arguments of this process, writes its error to standard
// error after the tool's name, and returns the exit code: 0, 2 for a UsageError, 1 for
// any other error. A request for help is no error.
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
