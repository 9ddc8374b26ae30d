package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// vulnerable is the exit code of govulncheck for a program with known vulnerabilities.
const vulnerable = 3

// withoutCheck is what an error says that is not about a vulnerability.
const withoutCheck = "name another database with --vuln-db, or go on with --without-vulncheck"

// vulnerabilities ends the release if a program has a known vulnerability, or if the
// database of these is out of reach. Systems differ in what the program imports, so that
// for each is checked. Released programs have no symbols, and govulncheck would take all of
// a module for used: it looks at the same programs with their symbols.
func (j job) vulnerabilities(ctx context.Context, builds []build) error {
	if j.vulnDB == "" {
		return nil
	}
	fmt.Fprintln(j.notes, "known vulnerabilities")
	checker, err := j.vulnChecker(ctx)
	if err != nil {
		return err
	}
	for _, b := range builds {
		b.path += "-symbols"
		if err := j.link(ctx, b, "-funcalign=16"); err != nil {
			return err
		}
		if err := j.checkProgram(ctx, checker, b); err != nil {
			return err
		}
		if err := os.Remove(b.path); err != nil {
			return err
		}
	}
	return nil
}

// vulnChecker builds govulncheck. It fails if the database is a directory and empty:
// govulncheck would find nothing there.
func (j job) vulnChecker(ctx context.Context) (program string, err error) {
	if dir, ok := strings.CutPrefix(j.vulnDB, "file://"); ok {
		if _, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "index", "db.json")); err != nil {
			return "", fmt.Errorf("there is no database of known vulnerabilities: %w: %s", err, withoutCheck)
		}
	}
	program = filepath.Join(j.work, "govulncheck")
	_, err = run(ctx, j.tools(), j.environ, "go", "build", "-o", program, "golang.org/x/vuln/cmd/govulncheck")
	return program, err
}

// checkProgram runs govulncheck over a program.
func (j job) checkProgram(ctx context.Context, checker string, b build) error {
	said, err := run(ctx, j.root, j.environ, checker, "-db", j.vulnDB, "-mode", "binary", b.path)
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == vulnerable:
		return fmt.Errorf("the program for %s has known vulnerabilities:\n%s", b.target, said)
	default:
		return fmt.Errorf("the program for %s was not checked for known vulnerabilities: if the database is out of reach, %s: %w", b.target, withoutCheck, err)
	}
}
