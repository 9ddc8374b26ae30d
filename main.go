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

// run ends the command at the first signal, with what it has to finish.
func run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go obey(signals, cancel)
	return cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}

// obey ends the process at the second signal. It does so itself: a shell may
// have started the process with the signal's own effect switched off.
func obey(signals <-chan os.Signal, cancel context.CancelFunc) {
	<-signals
	cancel()
	<-signals
	os.Exit(1)
}
