package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"pushbox/internal/tools/tool"
)

func main() { os.Exit(tool.Run("faults", command)) }

// usualLimit is how long a harness may run on a fault. The longest, with the length
// that CI uses, takes a quarter of that on two idle cores.
const usualLimit = 10 * time.Minute

// command runs the tool with the arguments. Results go to out, everything else to
// notes.
func command(ctx context.Context, args []string, out, notes io.Writer) error {
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Usage = func() {
		_, _ = fmt.Fprintln(notes, "faults [flags] [NAME ...]: seed faults and check that they are caught\nfaults record NAME: make the patch of a fault from a change of the tree")
		f.PrintDefaults()
	}
	matrix := f.Bool("matrix", false, "run every harness of each fault, and print which of them catch it, as a table")
	power := f.Bool("power", false, "find the smallest length at which the first harness of each fault catches it 20 times of 20")
	by := f.String("by", "", "try only the faults that this `harness` must notice, by it alone")
	list := f.Bool("list", false, "list the faults, and seed none")
	control := f.Bool("control", false, "run the harnesses on the code without a fault: each must pass")
	limit := f.Duration("limit", usualLimit, "`time` that a harness may run on a fault")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return tool.Usagef("%v", err)
	}
	if f.NArg() == 2 && f.Arg(0) == "record" {
		root, err := moduleRoot()
		if err != nil {
			return err
		}
		return record(ctx, root, f.Arg(1))
	}
	faults, err := allFaults()
	if err == nil {
		faults, err = choose(faults, f.Args())
	}
	if err == nil && *by != "" {
		faults, err = noticedBy(faults, *by)
	}
	switch {
	case err != nil:
		return err
	case *limit <= 0:
		return tool.Usagef("--limit must be positive")
	case *list:
		return writeList(out, faults)
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	r := runner{root: root, limit: *limit, out: out, progress: newProgress(notes)}
	switch {
	case *control:
		return r.control(ctx, faults)
	case *matrix:
		return r.matrix(ctx, faults)
	case *power:
		return r.power(ctx, faults)
	}
	return r.tryAll(ctx, faults)
}

// writeList writes a line about each fault.
func writeList(out io.Writer, faults []fault) error {
	for _, f := range faults {
		if _, err := fmt.Fprintf(out, "%-30s %s\n", f.name, f.wrong); err != nil {
			return err
		}
	}
	return nil
}
