package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/cli"
)

// A source is a tree of this module and the commit that it is of.
type source struct {
	root    string // directory
	version string // such as 3.0.0
	commit  string
	time    time.Time // of the commit: SOURCE_DATE_EPOCH
}

// findSource finds the tree around the working directory. It must be that of a
// commit, unless changes are allowed.
func findSource(ctx context.Context, allowChanges bool) (source, error) {
	root, err := run(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return source{}, fmt.Errorf("this is no clone of the repository, which knows the commit: %w", err)
	}
	s := source{root: filepath.FromSlash(root), version: cli.Release()}
	if _, err := os.Stat(filepath.Join(s.root, "internal", "release")); err != nil {
		return source{}, fmt.Errorf("%s is not pushbox's: run this in its directory", s.root)
	}
	changes, err := run(ctx, s.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changes != "" && !allowChanges {
		return source{}, fmt.Errorf("what is published must be a commit, and these are not committed (commit them, or say --allow-changes):\n%s", changes)
	}
	facts, err := run(ctx, s.root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	commit, seconds, _ := strings.Cut(facts, " ")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	s.commit, s.time = commit, time.Unix(epoch, 0).UTC()
	return s, err
}

// read returns a file of the tree; name has slashes.
func (s source) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
}

// copyTo makes a clone with the same commit, tags, files and changes in a directory
// that is not there yet.
func (s source) copyTo(ctx context.Context, dir string) (source, error) {
	if _, err := run(ctx, s.root, nil, "git", "clone", "-q", "--no-hardlinks", "--no-checkout", s.root, dir); err != nil {
		return source{}, err
	}
	for _, args := range [][]string{{"update-ref", "--no-deref", "HEAD", s.commit}, {"reset", "-q"}} {
		if _, err := run(ctx, dir, nil, "git", args...); err != nil {
			return source{}, err
		}
	}
	list, err := run(ctx, s.root, nil, "git", "ls-files", "-z", "-co", "--exclude-standard")
	if err != nil {
		return source{}, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		if err := copyFile(filepath.Join(s.root, name), filepath.Join(dir, name)); err != nil {
			return source{}, err
		}
	}
	s.root = dir
	return s, nil
}

// copyFile copies a file, or leaves it out if it is one that was deleted.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

// run runs a program and returns what it printed, without the last line end. An
// error has what the program said.
func run(ctx context.Context, dir string, environ []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
