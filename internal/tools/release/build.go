package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pushbox/internal/cli"
)

type target string

func allTargets() []target {
	return []target{
		"linux/amd64", "linux/arm64", "linux/armv7", "linux/riscv64",
		"darwin/amd64", "darwin/arm64", "freebsd/amd64", "windows/amd64",
	}
}

func (t target) label() string { return strings.ReplaceAll(string(t), "/", "-") }

func (t target) program() string {
	if strings.HasPrefix(string(t), "windows/") {
		return "pushbox.exe"
	}
	return "pushbox"
}

// environ is the environment of the compiler. It sets every variable that alters the
// compiled code, so that the user's own settings do not.
func (t target) environ() []string {
	goos, goarch, _ := strings.Cut(string(t), "/")
	goarm := ""
	if goarch == "armv7" {
		goarch, goarm = "arm", "7"
	}
	return []string{
		"GOOS=" + goos, "GOARCH=" + goarch, "GOARM=" + goarm, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GORISCV64=rva20u64", "GOFIPS140=off", "GOEXPERIMENT=",
		"GOFLAGS=-mod=readonly", "GOWORK=off",
	}
}

type job struct {
	source
	targets      []target // never none
	dist         string   // absolute: directory of the result
	work         string   // directory of intermediate files
	environ      []string // for every program, in addition to the process's own
	vulnDB       string   // address of the database of known vulnerabilities; empty: no check
	sign         string   // key file of minisign; empty: no signature
	verify       bool
	allowChanges bool
	notes        io.Writer
}

type build struct {
	target
	content []byte // of the program
	info    *buildinfo.BuildInfo
	files   files // documents: beside the program in archives
}

func (j job) makeAll(ctx context.Context) (sums string, err error) {
	if err := os.MkdirAll(j.dist, dirMode); err != nil {
		return "", err
	}
	common, err := j.documents(ctx)
	if err != nil {
		return "", err
	}
	var builds []build
	for i, t := range j.targets { // one after the other: the compiler uses all cores by itself
		fmt.Fprintf(j.notes, "%s (%d of %d)\n", t, i+1, len(j.targets))
		b, err := j.compile(ctx, t, common)
		if err != nil {
			return "", err
		}
		builds = append(builds, b)
	}
	if err := j.vulnerabilities(ctx); err != nil {
		return "", err
	}
	fmt.Fprintln(j.notes, "archives, bills of materials, packages")
	for _, b := range builds {
		if err := errors.Join(j.archive(b), j.bill(b), j.packages(ctx, b)); err != nil {
			return "", fmt.Errorf("%s: %w", b.target, err)
		}
	}
	fmt.Fprintln(j.notes, "the container image, provenance, checksums")
	if err := j.image(ctx, builds); err != nil {
		return "", fmt.Errorf("the container image: %w", err)
	}
	assets, err := cli.AssetList()
	if err != nil {
		return "", err
	}
	if err := j.write("assets.txt", []byte(assets+"\n")); err != nil { // for pushbox verify --release
		return "", err
	}
	if err := j.provenance(builds); err != nil {
		return "", err
	}
	return j.sums()
}

func (j job) compile(ctx context.Context, t target, common files) (build, error) {
	path := filepath.Join(j.work, "pushbox-"+t.label())
	if err := j.link(ctx, t, path, "-s -w -funcalign=16"); err != nil {
		return build{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return build{}, err
	}
	for i, m := range info.Deps {
		if m.Replace != nil { // the module that is compiled in
			info.Deps[i] = m.Replace
		}
	}
	licences, err := j.licences(ctx, info)
	if err != nil {
		return build{}, err
	}
	all := maps.Clone(common)
	all["THIRD-PARTY-LICENSES"] = document(licences)
	content, err := os.ReadFile(path)
	return build{target: t, content: content, info: info, files: all}, err
}

func (j job) link(ctx context.Context, t target, path, flags string) error {
	environ := append(t.environ(), j.environ...)
	if _, err := run(ctx, j.root, environ, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags="+flags, "-o", path, "."); err != nil {
		return fmt.Errorf("build for %s: %w", t, err)
	}
	return nil
}

// vulnerabilities ends the release if a program has a known vulnerability, or if the
// database of these is out of reach. Imports differ between systems, so
// each program is checked. govulncheck needs symbols to tell which functions are used, so it checks
// builds with symbols.
func (j job) vulnerabilities(ctx context.Context) error {
	if j.vulnDB == "" {
		return nil
	}
	fmt.Fprintln(j.notes, "known vulnerabilities")
	path := filepath.Join(j.work, "with-symbols")
	for _, t := range j.targets {
		if err := j.link(ctx, t, path, "-funcalign=16"); err != nil {
			return err
		}
		if err := j.checkProgram(ctx, path); err != nil {
			return fmt.Errorf("the program for %s %w", t, err)
		}
	}
	return nil
}

// checkProgram runs govulncheck over a program. It fails if the database is a directory and
// empty: govulncheck would find nothing there.
func (j job) checkProgram(ctx context.Context, path string) error {
	const (
		vulnerable = 3 // the exit code of govulncheck after a finding
		unchecked  = "was not checked for known vulnerabilities: name another database with --vuln-db, or leave this out by --without-vulncheck"
	)
	if dir, ok := strings.CutPrefix(j.vulnDB, "file://"); ok {
		if _, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "index", "db.json")); err != nil {
			return fmt.Errorf("%s: there is no database: %w", unchecked, err)
		}
	}
	checker, err := j.tool(ctx, "tool", "-n", "govulncheck")
	if err != nil {
		return err
	}
	said, err := run(ctx, j.root, j.environ, checker, "-db", j.vulnDB, "-mode", "binary", path)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == vulnerable {
		return fmt.Errorf("has known vulnerabilities:\n%s", said)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", unchecked, err)
	}
	return nil
}
