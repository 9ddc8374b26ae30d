// Release builds everything that is published for a version of pushbox:
//
//	go run ./internal/tools/release                        everything, into dist/
//	go run ./internal/tools/release --verify               and a second time elsewhere, to compare
//	go run ./internal/tools/release --target linux/arm64   for one system
//	go run ./internal/tools/release --sign ~/pushbox.key   with a signature of the checksums
//
// It makes an archive for each system, packages for Debian and for systems with RPM, a
// container image as an OCI layout, a bill of materials for each binary, the list of what pages load, the provenance of
// them (in-toto, SLSA), and the SHA-256 of all of them. The same commit and the same Go give the same bytes, in any directory
// and at any time. Before anything is packed, govulncheck looks for known vulnerabilities
// in the programs; it needs a database (--vuln-db), and a finding ends the release.
//
// It needs Go, git and the modules; after they are downloaded it works offline, but for that
// database. What only releases need is pinned in tools/go.mod.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"pushbox/internal/tools/tool"
)

func main() { os.Exit(tool.Run("release", command)) }

func parse(args []string, notes io.Writer) (j job, err error) {
	j.notes = notes
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.SetOutput(notes)
	dist := f.String("dist", "dist", "`directory` for the result; replaced if it holds a release")
	f.Func("target", "build for `SYSTEM/MACHINE` only, such as linux/arm64; may be repeated", j.addTarget)
	f.BoolVar(&j.verify, "verify", false, "build a second time, in another directory and from an empty cache, and compare byte for byte")
	f.BoolVar(&j.allowChanges, "allow-changes", false, "build although the tree has uncommitted changes; the version says so")
	f.StringVar(&j.sign, "sign", "", "sign the checksums with minisign and the secret key in `FILE`, as the last step")
	f.StringVar(&j.vulnDB, "vuln-db", "https://vuln.go.dev", "database of known vulnerabilities: `URL`, https:// or file://")
	unchecked := f.Bool("without-vulncheck", false, "do not check for known vulnerabilities: for where the database is out of reach")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return j, err
	case err != nil:
		return j, tool.Usagef("%v", err)
	case f.NArg() > 0:
		return j, tool.Usagef("unexpected argument %q", f.Arg(0))
	case *unchecked:
		fmt.Fprintln(notes, "THE PROGRAMS ARE NOT CHECKED for known vulnerabilities, as --without-vulncheck asks")
		j.vulnDB = ""
	case j.vulnDB == "":
		return j, tool.Usagef("--vuln-db must not be empty; to check nothing, use --without-vulncheck")
	}
	if len(j.targets) == 0 {
		j.targets = allTargets()
	}
	j.dist, err = filepath.Abs(*dist)
	return j, err
}

func (j *job) addTarget(value string) error {
	if !slices.Contains(allTargets(), target(value)) {
		return tool.Usagef("it must be one of %v", allTargets())
	}
	j.targets = append(j.targets, target(value))
	return nil
}

func command(ctx context.Context, args []string, out, notes io.Writer) error {
	j, err := parse(args, notes)
	if err != nil {
		return err
	}
	if j.source, err = findSource(ctx, j.allowChanges); err != nil {
		return err
	}
	sums, err := j.publish(ctx)
	if err != nil {
		return err
	}
	if j.verify {
		if err := j.makeAgain(ctx, sums); err != nil {
			return err
		}
	}
	if j.sign != "" {
		if err := j.signSums(ctx, os.Stdin); err != nil {
			return err
		}
	}
	made, err := os.ReadDir(j.dist)
	for _, entry := range made {
		fmt.Fprintln(out, filepath.Join(j.dist, entry.Name()))
	}
	return err
}

// publish makes the release in a directory beside j.dist and renames it at the end, so that
// j.dist never holds half a release. It refuses a directory that holds other files than a
// release: the user may have named the wrong one.
func (j job) publish(ctx context.Context) (sums string, err error) {
	if _, err := os.Stat(filepath.Join(j.dist, sumsName)); err != nil {
		if others, err := os.ReadDir(j.dist); len(others) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", tool.Usagef("%s holds files that are not a release: empty it, or name another directory with --dist", j.dist)
		}
	}
	above := filepath.Dir(j.dist)
	if err := os.MkdirAll(above, dirMode); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(above, ".release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	half := j
	half.work, half.dist = temp, filepath.Join(temp, "dist")
	if sums, err = half.makeAll(ctx); err != nil {
		return "", err
	}
	return sums, errors.Join(os.RemoveAll(j.dist), os.Rename(half.dist, j.dist))
}

// signSums signs the checksums, and so every file of the release, with the program minisign.
// The signature is in a file beside them. minisign asks for the password of the key file on in.
func (j job) signSums(ctx context.Context, in io.Reader) error {
	sums := filepath.Join(j.dist, sumsName)
	cmd := exec.CommandContext(ctx, "minisign", "-S", "-s", j.sign, "-m", sums,
		"-x", sums+".minisig", "-t", fmt.Sprintf("pushbox %s, commit %s", j.version, j.commit))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, j.notes, j.notes
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("minisign: %w", err)
	}
	return nil
}
