// Command genexample writes config.example.yaml: every setting with its default,
// under the comment that its field has in the Go source.
//
//	genexample DIR OUTPUT
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: genexample DIR OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "genexample:", err)
		os.Exit(1)
	}
}

func run(dir, output string) error {
	text, err := example(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(output, text, 0o644)
}
