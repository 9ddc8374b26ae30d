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
	"io"
	"os"
	"time"

	"pushbox/internal/tool"
)

func main() { os.Exit(tool.Run("faults", command)) }

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
		return tool.UsageError(err.Error())
	}
	faults, err := choose(allFaults(), f.Args())
	switch {
	case err != nil:
		return err
	case *limit <= 0:
		return tool.UsageError("--limit is not a time that anything can be done in")
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
