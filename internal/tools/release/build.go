package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Modes of the files that are made.
const (
	dirMode     = 0o755
	fileMode    = 0o644
	programMode = 0o755
)

// A job makes one release.
type job struct {
	source
	targets []target
	dist    string   // directory of the result
	work    string   // directory of intermediate files
	environ []string // for every program, in addition to the process's own
	vulnDB  string   // address of the database of known vulnerabilities; empty: no check
	notes   io.Writer
}

// A build is the program for a target, and its documents.
type build struct {
	target
	path  string // of the program
	info  *buildinfo.BuildInfo
	files []file // documents: beside the program in archives
}

// makeAll makes the whole release, and returns the names of the files in dist.
func makeAll(ctx context.Context, j job) ([]string, error) {
	if err := os.MkdirAll(j.dist, dirMode); err != nil {
		return nil, err
	}
	builds, err := j.compileAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := j.vulnerabilities(ctx, builds); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		what string
		make func(context.Context, []build) error
	}{
		{"archives", j.archives},
		{"bills of materials", j.bills},
		{"packages", j.packages},
		{"the container image", j.image},
		{"checksums", j.sums},
	} {
		fmt.Fprintf(j.notes, "%s\n", step.what)
		if err := step.make(ctx, builds); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return namesIn(j.dist)
}

// compileAll builds the program for each target, one after the other: the compiler
// uses all cores by itself.
func (j job) compileAll(ctx context.Context) (all []build, err error) {
	common, err := j.documents(ctx)
	if err != nil {
		return nil, err
	}
	for i, t := range j.targets {
		fmt.Fprintf(j.notes, "%s (%d of %d)\n", t, i+1, len(j.targets))
		b, err := j.compile(ctx, t)
		if err != nil {
			return nil, err
		}
		licences, err := j.licences(ctx, b.info)
		if err != nil {
			return nil, err
		}
		b.files = append(common[:len(common):len(common)], file{name: "THIRD-PARTY-LICENSES", content: licences, mode: fileMode})
		all = append(all, b)
	}
	return all, nil
}

// compile builds the program for one target, with the commit in its build information.
func (j job) compile(ctx context.Context, t target) (build, error) {
	b := build{target: t, path: filepath.Join(j.work, t.label(), t.program())}
	if err := j.link(ctx, b, "-s -w -funcalign=16"); err != nil {
		return b, err
	}
	info, err := buildinfo.ReadFile(b.path)
	b.info = info
	return b, err
}

// link builds a program with those flags of the linker.
func (j job) link(ctx context.Context, b build, flags string) error {
	environ := append(b.environ(), j.environ...)
	if _, err := run(ctx, j.root, environ, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags="+flags, "-o", b.path, "."); err != nil {
		return fmt.Errorf("build for %s: %w", b.target, err)
	}
	return nil
}

// setting is a value of the program's build information; empty if it is not there.
func (b build) setting(key string) string {
	for _, s := range b.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// namesIn returns the sorted names of the files in a directory.
func namesIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
