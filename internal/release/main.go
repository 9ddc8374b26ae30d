// Release builds everything that is published of a version of pushbox:
//
//	go run ./internal/release
//	go run ./internal/release --verify
//	go run ./internal/release --target linux/amd64 --dist /tmp/dist
//	go run ./internal/release --manual | man -l -
//
// That is, in dist/: an archive for each system, packages for Debian and for
// systems with RPM, a container image as an OCI layout, a bill of materials for
// each binary, and the SHA-256 of all of them. The same commit and the same Go give
// the same bytes, in whatever directory and at whatever time; --verify builds
// everything a second time, elsewhere and from an empty cache, and compares.
//
// It needs Go, git and the modules. Packages are made by nfpm, in the version that
// tools/go.mod pins.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pushbox/internal/tool"
)

func main() { os.Exit(tool.Run("release", command)) }

// command does what the arguments ask for. The manual, and the names of what was
// made, go to out, all else to notes.
func command(ctx context.Context, args []string, out, notes io.Writer) error {
	o, err := parse(args, notes)
	if err != nil {
		return err
	}
	src, err := findSource(ctx, o.allowChanges)
	if err != nil {
		return err
	}
	if o.manual {
		page, err := manual(src)
		if err == nil {
			_, err = out.Write(page)
		}
		return err
	}
	made, err := publish(ctx, src, o, notes)
	if err != nil {
		return err
	}
	if o.verify {
		if err := verify(ctx, src, o, notes); err != nil {
			return err
		}
	}
	for _, name := range made {
		fmt.Fprintln(out, filepath.Join(o.dist, name))
	}
	return nil
}

// publish makes everything in a directory beside o.dist and then gives it that
// name, so that there is never half a release. It returns the names of the files.
func publish(ctx context.Context, src source, o options, notes io.Writer) ([]string, error) {
	if err := replaceable(o.dist); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.dist), dirMode); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(filepath.Dir(o.dist), ".release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	made, err := makeAll(ctx, job{source: src, targets: o.targets, dist: filepath.Join(temp, "dist"), work: temp, notes: notes})
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(o.dist); err != nil {
		return nil, err
	}
	return made, os.Rename(filepath.Join(temp, "dist"), o.dist)
}

// replaceable refuses to replace a directory that is no release: what was meant
// may be something else.
func replaceable(dist string) error {
	entries, err := os.ReadDir(dist)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dist, sumsName)); err != nil && len(entries) > 0 {
		return tool.UsageError(fmt.Sprintf("%s holds something that is no release: empty it, or name another directory with --dist", dist))
	}
	return nil
}
