package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/cli"
)

// A source is a source tree of pushbox, and its commit.
type source struct {
	root    string // directory
	version string // such as 3.0.0
	commit  string
	time    time.Time // of the commit: SOURCE_DATE_EPOCH
}

// findSource finds the source tree around the working directory. The tree must be
// exactly its commit, unless changes are allowed.
func findSource(ctx context.Context, allowChanges bool) (source, error) {
	root, err := run(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return source{}, fmt.Errorf("this is not a clone of the repository, which is needed for the commit: %w", err)
	}
	s := source{root: filepath.FromSlash(root), version: cli.Release()}
	if _, err := os.Stat(filepath.Join(s.root, "internal", "tools", "release")); err != nil {
		return source{}, fmt.Errorf("%s is not pushbox's source tree: run this there", s.root)
	}
	changes, err := run(ctx, s.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changes != "" && !allowChanges {
		return source{}, fmt.Errorf("a release must be built from a commit, and these changes are not committed (commit them, or use --allow-changes):\n%s", changes)
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

// read returns a file of the tree. The name has slashes on every system.
func (s source) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
}

// copyTo makes a clone with the same commit, tags, files and changes in a new
// directory.
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

// copyFile copies a file. A file that does not exist was deleted in the tree: it is left
// out.
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

// tools is the directory of the module with the programs whose libraries only releases
// need.
func (s source) tools() string { return filepath.Join(s.root, "internal", "tools", "release", "tools") }

// tool runs a program of that module, which reads the values as JSON from standard
// input.
func (j job) tool(ctx context.Context, name string, values ...any) error {
	var in bytes.Buffer
	for _, v := range values {
		if err := json.NewEncoder(&in).Encode(v); err != nil {
			return err
		}
	}
	_, err := runWith(ctx, &in, j.tools(), j.environ, "go", "run", "./"+name)
	return err
}

// run runs a program and returns its output, without the last line end, also after an
// error. The error has what the program wrote to standard error.
func run(ctx context.Context, dir string, environ []string, name string, args ...string) (string, error) {
	return runWith(ctx, nil, dir, environ, name, args...)
}

func runWith(ctx context.Context, in io.Reader, dir string, environ []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), environ...), in
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
