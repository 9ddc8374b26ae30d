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
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/cli"
)

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
	changes, err := run(ctx, s.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changes != "" && !allowChanges {
		return source{}, fmt.Errorf("a release is built from a commit; commit these changes, or use --allow-changes:\n%s", changes)
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

// read returns the files of the tree below some paths, which must be there, or all, but for those
// that git ignores.
func (s source) read(ctx context.Context, below ...string) (files, error) {
	list, err := run(ctx, s.root, nil, "git", append([]string{"ls-files", "-z", "-co", "--exclude-standard", "--error-unmatch", "--"}, below...)...)
	if err != nil {
		return nil, err
	}
	all := make(files)
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		path := filepath.Join(s.root, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) { // it was deleted, and that is not staged
			continue
		} else if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all[name] = file{content: content, mode: info.Mode().Perm()}
	}
	return all, nil
}

// copyTo makes a clone with the same commit, tags, files and changes in a new directory.
func (s source) copyTo(ctx context.Context, dir string) error {
	if _, err := run(ctx, s.root, nil, "git", "clone", "-q", "--no-checkout", s.root, dir); err != nil {
		return err
	}
	if _, err := run(ctx, dir, nil, "git", "reset", "-q", s.commit); err != nil {
		return err
	}
	all, err := s.read(ctx)
	if err != nil {
		return err
	}
	return all.writeBelow(dir)
}

// makeAgain builds the release again, from a copy of the tree in another directory and with
// an empty build cache, and compares its checksums with those of the first.
func (j job) makeAgain(ctx context.Context, first string) error {
	fmt.Fprintln(j.notes, "the same again, in another directory")
	temp, err := os.MkdirTemp("", "pushbox-somewhere-else-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	tree := filepath.Join(temp, "tree")
	if err := j.copyTo(ctx, tree); err != nil {
		return err
	}
	j.root, j.dist, j.work, j.vulnDB = tree, filepath.Join(temp, "dist"), filepath.Join(temp, "work"), ""
	j.environ = []string{"GOCACHE=" + filepath.Join(temp, "cache")}
	second, err := j.makeAll(ctx)
	if err != nil {
		return err
	}
	if differ := difference(first, second); len(differ) > 0 {
		return fmt.Errorf("the second build made other files or other bytes, so these cannot be reproduced:\n%s", strings.Join(differ, "\n"))
	}
	fmt.Fprintf(j.notes, "%d files are the same, byte for byte\n", strings.Count(first, "\n"))
	return nil
}

// difference returns the lines that only one of two texts has.
func difference(a, b string) []string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	return slices.DeleteFunc(slices.Concat(as, bs), func(line string) bool { return slices.Contains(as, line) && slices.Contains(bs, line) })
}

// tool runs go in the module with what only releases need.
func (j job) tool(ctx context.Context, args ...string) (string, error) {
	return run(ctx, filepath.Join(j.root, "internal", "tools", "release", "tools"), j.environ, "go", args...)
}

// run runs a program and returns its output, without the last line end, also after an
// error. The error has what the program wrote to standard error.
func run(ctx context.Context, dir string, environ []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
