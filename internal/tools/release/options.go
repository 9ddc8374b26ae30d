package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"pushbox/internal/tools/tool"
)

// options are the arguments, parsed.
type options struct {
	dist         string   // absolute
	targets      []target // never none
	verify       bool
	allowChanges bool
	manual       bool
	vulnDB       string // empty: no check for known vulnerabilities
	sign         string // key file of minisign; empty: no signature
}

const help = `Build everything that is published for this version of pushbox.

  go run ./internal/tools/release                        everything, into dist/
  go run ./internal/tools/release --verify               and a second time elsewhere, to compare
  go run ./internal/tools/release --target linux/arm64   for one system
  go run ./internal/tools/release --sign ~/pushbox.key   with a signature of the checksums
  go run ./internal/tools/release --manual | man -l -    read the manual page

`

// parse reads the arguments. Its errors are of type tool.UsageError.
func parse(args []string, notes io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Usage = func() { fmt.Fprint(notes, help); f.PrintDefaults() }
	f.StringVar(&o.dist, "dist", "dist", "`directory` for the result; replaced if it holds a release")
	f.Func("target", "build for `SYSTEM/MACHINE` only, such as linux/arm64; may be repeated", o.addTarget)
	f.BoolVar(&o.verify, "verify", false, "build a second time, in another directory and from an empty cache, and compare byte for byte")
	f.BoolVar(&o.allowChanges, "allow-changes", false, "build although the tree has uncommitted changes; the version says so")
	f.StringVar(&o.sign, "sign", "", "sign the checksums with minisign and the secret key in `FILE`, as the last step")
	f.StringVar(&o.vulnDB, "vuln-db", "https://vuln.go.dev", "database of known vulnerabilities: `URL`, https:// or file://")
	unchecked := f.Bool("without-vulncheck", false, "do not check for known vulnerabilities: for where the database is out of reach")
	f.BoolVar(&o.manual, "manual", false, "print the manual page, and build nothing")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return o, err
	} else if err != nil {
		return o, tool.Usagef("%v", err)
	}
	if f.NArg() > 0 {
		return o, tool.Usagef("unexpected argument %q", f.Arg(0))
	}
	if *unchecked {
		o.vulnDB = ""
	} else if o.vulnDB == "" {
		return o, tool.Usagef("--vuln-db must not be empty; to check nothing, use --without-vulncheck")
	}
	if len(o.targets) == 0 {
		o.targets = allTargets()
	}
	dist, err := filepath.Abs(o.dist)
	o.dist = dist
	return o, err
}

func (o *options) addTarget(value string) error {
	var known []string
	for _, t := range allTargets() {
		if t.String() == value {
			o.targets = append(o.targets, t)
			return nil
		}
		known = append(known, t.String())
	}
	return tool.Usagef("it must be one of %s", strings.Join(known, ", "))
}
