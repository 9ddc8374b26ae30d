// Bench measures how many creates and views a second servers answer that speak
// Password Pusher's JSON API, as ratios to a bare net/http handler on the same
// machine:
//
//	go run ./internal/bench --pushbox ./pushbox
//	go run ./internal/bench bolt --pushbox ./pushbox
//
// It is a process of its own, and so is each server that it starts. Servers and
// operations take turns in short rounds, so that whatever else the machine does
// meets them alike. With bolt it compares one create and one view to a bare
// bbolt commit of the same rows in a copy of the same file.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"

	"pushbox/internal/tool"
)

// gcPercent is what pushbox sets for itself. The bare handler has it too, so
// that the ratios are not flattered, and the load generator, so that it takes
// less of the machine.
const gcPercent = 400

func main() { os.Exit(run()) }

func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	return tool.Run("bench", command)
}

// command does what the arguments ask for. Figures go to out, all else to notes.
func command(ctx context.Context, args []string, out, notes io.Writer) error {
	if len(args) > 0 && args[0] == bareWord {
		return serveBare(ctx, notes)
	}
	o, err := parse(args, notes)
	if err != nil {
		return err
	}
	b, err := newBench(o, notes)
	if err != nil {
		return err
	}
	if o.bolt {
		err = b.compareBolt(ctx, out)
	} else {
		err = b.compare(ctx, out)
	}
	return errors.Join(err, b.close())
}
