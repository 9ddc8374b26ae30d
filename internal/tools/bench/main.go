// Bench measures the creates and views per second of servers that speak Password
// Pusher's JSON API, as ratios to a bare net/http handler on the same machine:
//
//	go run ./internal/tools/bench --pushbox ./pushbox
//	go run ./internal/tools/bench --pushbox new=./pushbox --pushbox old=/tmp/pushbox
//	go run ./internal/tools/bench bolt --pushbox ./pushbox
//	go run ./internal/tools/bench postgres --pushbox ./pushbox --database 'postgres:///bench?host=/run/postgresql'
//
// It is a process of its own, and so is each server that it starts. Servers and
// operations take turns in short rounds, so that other load on the machine affects them
// alike. With bolt it compares a create and a view with a bare bbolt commit of the same
// rows in a copy of the same file. With postgres it compares servers over that database
// with bare statements, each in a schema of its own, which it makes and drops.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"

	"pushbox/internal/tools/tool"
)

// gcPercent is the value that pushbox sets for itself. The bare handler has it, too, for
// fair ratios, and the load generator, to take less CPU.
const gcPercent = 400

func main() { os.Exit(run()) }

func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	return tool.Run("bench", command)
}

// command runs the tool with the arguments. Figures go to out, everything else to notes.
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
	switch {
	case o.bolt:
		err = b.compareBolt(ctx, out)
	case o.database != "":
		err = b.comparePostgres(ctx, out)
	default:
		err = b.compare(ctx, out)
	}
	return errors.Join(err, b.close())
}
