// Faults shows that the harnesses which hold pushbox's promises would see them
// broken. It seeds faults into the code, one at a time, and has a harness meet each:
//
//	go run ./internal/faults
//	go run ./internal/faults --list
//	go run ./internal/faults one-view-too-many journal-not-loaded
//
// A fault is an edit of a file or two, as somebody tired might make it. The tree
// stays as it is: the patched copies are given to the compiler with -overlay. The
// exit code is 0 if every fault was caught, else 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

// run ends at the first signal, with the harness that runs stopped and its files gone.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var bad usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &bad):
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	default:
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
}

// A usageError says which argument cannot be.
type usageError string

// Error is what is wrong, for whoever gave the arguments.
func (e usageError) Error() string { return string(e) }

// usualLimit is how long a harness may take for a fault; the longest, in the length
// that CI gives it, takes a quarter of that on two idle cores.
const usualLimit = 10 * time.Minute

// command does what the arguments ask for. What was found goes to out, all else to
// notes.
func command(ctx context.Context, args []string, out, notes io.Writer) error {
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.SetOutput(notes)
	list := f.Bool("list", false, "list the faults, and try none")
	markdown := f.Bool("markdown", false, "print the table of docs/testing.md, and try none")
	control := f.Bool("control", false, "run the harnesses over the code as it is instead: each must pass")
	limit := f.Duration("limit", usualLimit, "`time` that a harness has for a fault")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError(err.Error())
	}
	faults, err := choose(allFaults(), f.Args())
	switch {
	case err != nil:
		return err
	case *limit <= 0:
		return usageError("--limit is not a time that anything can be done in")
	case *list:
		return writeList(out, faults)
	case *markdown:
		return writeTable(out, faults)
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	r := runner{root: root, limit: *limit, out: out, progress: newProgress(notes)}
	if *control {
		return r.control(ctx, faults)
	}
	return r.tryAll(ctx, faults)
}
