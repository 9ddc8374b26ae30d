// Pushbox is a server for sharing secrets that vanish. Start it with
//
//	pushbox serve
package main

import (
	"os"

	"pushbox/internal/cli"
)

func main() { os.Exit(cli.Run()) }
