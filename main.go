// Pushbox is a server for sharing secrets that vanish. Start it with
//
//	pushbox serve
package main

import (
	_ "embed"
	"os"

	"pushbox/internal/cli"
)

// example is the settings file that `pushbox config init` writes.
//
//go:embed config.example.yaml
var example string

func main() { os.Exit(cli.Run(example)) }
