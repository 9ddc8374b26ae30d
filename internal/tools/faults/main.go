// Faults seeds faults into the code, one at a time, and runs the harnesses that must notice
// that pushbox breaks a promise then. README.md has its commands.
//
// A fault is testdata/NAME.patch: a mistake that a tired engineer could make, as git diff
// writes it, below two lines that say what is wrong then and which harnesses of harness.go
// must notice it, in order. The source tree stays as it is: the compiler gets the patched
// copies with -overlay. The exit code is 0 if every fault was caught, else 1.
//
// When a patch no longer fits the code:
//
//  1. Commit or stage your own work (git add -A).
//  2. Make the same mistake in the new code.
//  3. Put what git diff -U1 prints under the head of NAME.patch, without its lines "index", and
//     take the mistake out of the tree (git restore). If go test ./internal/tools/faults says that
//     the lines are there more than once, do it with -U2.
//
// Where only a path or a name has changed, sed over testdata/*.patch is enough. For a
// new fault, write the two lines of NAME.patch first, then continue with step 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"pushbox/internal/tools/tool"
)

func main() { os.Exit(tool.Run("faults", command)) }

// usualLimit is how long a harness may run on a fault. The longest, with the length
// that CI uses, takes a quarter of that on two idle cores.
const usualLimit = 10 * time.Minute

func command(ctx context.Context, args []string, out, notes io.Writer) error {
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Usage = func() {
		fmt.Fprintln(notes, "faults [flags] [NAME ...]: seed faults and check that they are caught")
		f.PrintDefaults()
	}
	matrix := f.Bool("matrix", false, "run every harness of each fault, and print which of them catch it, as a table")
	power := f.Bool("power", false, "find the smallest length at which the first harness of each fault catches it 20 times of 20")
	by := f.String("by", "", "try only the faults that this `harness` must notice, by it alone")
	list := f.Bool("list", false, "list the faults, and seed none")
	control := f.Bool("control", false, "run the harnesses on the code without a fault: each must pass")
	limit := f.Duration("limit", usualLimit, "`time` that a harness may run on a fault")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return tool.Usagef("%v", err)
	}
	if *limit <= 0 {
		return tool.Usagef("--limit must be positive")
	}
	root, err := tool.Output(ctx, ".", nil, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root = filepath.FromSlash(root)
	faults, err := choose(root, f.Args(), *by)
	if err != nil {
		return err
	}
	r := runner{root: root, limit: *limit, out: out}
	switch {
	case *list:
		for _, f := range faults {
			fmt.Fprintf(out, "%-30s %s\n", f.name, f.wrong)
		}
		return nil
	case *control:
		return r.control(ctx, faults)
	case *matrix:
		return r.matrix(ctx, faults)
	case *power:
		return r.power(ctx, faults)
	}
	return r.tryAll(ctx, faults)
}
