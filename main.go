// Pushbox is a server for sharing secrets that vanish. Start it with
//
//	pushbox serve
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"pushbox/internal/cli"
)

func main() { os.Exit(run()) }

// run ends the command at the first signal, with what it has to finish, and the
// process at the second.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}
