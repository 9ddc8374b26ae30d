// Release builds everything that is published for a version of pushbox:
//
//	go run ./internal/tools/release
//	go run ./internal/tools/release --verify
//	go run ./internal/tools/release --target linux/amd64 --dist /tmp/dist
//	go run ./internal/tools/release --manual | man -l -
//
// It writes to dist/: an archive for each system, packages for Debian and for systems
// with RPM, a container image as an OCI layout, a bill of materials for each binary,
// and the SHA-256 of all of them. The same commit and the same Go give the same bytes,
// in any directory and at any time; --verify builds everything a second time, in
// another directory and from an empty cache, and compares. --sign signs the sums with
// minisign. Before anything is packed, govulncheck looks for known vulnerabilities in the
// programs; it needs a database (--vuln-db), and a finding ends the release.
//
// It needs Go, git and the modules; after they are downloaded it works offline, but for that
// database. The libraries that make packages, images and bills are pinned in tools/go.mod.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pushbox/internal/tools/tool"
)

func main() { os.Exit(tool.Run("release", command)) }

// command runs the tool with the arguments. The manual page, and the names of the files
// that were made, go to out, everything else to notes.
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
	if o.sign != "" {
		name, err := sign(ctx, src, o, os.Stdin, notes)
		if err != nil {
			return err
		}
		made = append(made, name)
	}
	for _, name := range made {
		fmt.Fprintln(out, filepath.Join(o.dist, name))
	}
	return nil
}

// publish makes the release in a directory beside o.dist and renames it at the end, so
// that o.dist never holds half a release. It returns the names of the files.
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
	if o.vulnDB == "" {
		fmt.Fprintln(notes, unchecked)
	}
	made, err := makeAll(ctx, job{source: src, targets: o.targets, dist: filepath.Join(temp, "dist"), work: temp, vulnDB: o.vulnDB, notes: notes})
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(o.dist); err != nil {
		return nil, err
	}
	return made, os.Rename(filepath.Join(temp, "dist"), o.dist)
}

const unchecked = "THE PROGRAMS ARE NOT CHECKED for known vulnerabilities, as --without-vulncheck asks"

// replaceable refuses a directory that holds other files than a release: the user may
// have named the wrong one.
func replaceable(dist string) error {
	entries, err := os.ReadDir(dist)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dist, sumsName)); err != nil && len(entries) > 0 {
		return tool.Usagef("%s holds files that are not a release: empty it, or name another directory with --dist", dist)
	}
	return nil
}
