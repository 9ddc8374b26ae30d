package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/tools/tool"
)

// blobs are lines that name contents by their hash: no use in a patch that is to
// outlast them.
var blobs = regexp.MustCompile(`(?m)^index .*\n`)

// record makes what has changed in the source tree since it was last staged the patch
// of a fault, whose head must be there, and restores those files. They are the files of the
// mistake: those that are named, or else those of the patch so far, or else the only one.
// While another file has changed, record refuses: it would revert work.
func record(ctx context.Context, root, name string, own []string) error {
	f, err := load(root, name)
	if err != nil {
		return err
	}
	list, err := git(ctx, root, "diff", "--name-only", "--", ".", ":(exclude)"+filepath.Dir(patches))
	if err != nil {
		return err
	}
	changed := strings.Fields(list)
	if len(changed) == 0 {
		return tool.Usagef("nothing has changed since it was staged: make the mistake in the code first")
	}
	if len(own) == 0 {
		own = slices.Collect(maps.Keys(f.hunks()))
	}
	if len(own) == 0 && len(changed) == 1 {
		own = changed
	}
	for _, path := range changed {
		if !slices.Contains(own, path) {
			return tool.Usagef("%s has changed since it was staged, and is no file of %s: "+
				"stage it (git add), or name the files of the mistake: faults record %[2]s FILE ...", path, name)
		}
	}
	if f.patch, err = difference(ctx, root, changed); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, patches, name+".patch"), []byte(f.head+"\n\n"+f.patch), 0o644); err != nil {
		return err
	}
	_, err = git(ctx, root, append([]string{"restore", "--"}, changed...)...)
	return err
}

// difference returns the difference of files to what is staged, with as few lines of context as
// make each place the only one.
func difference(ctx context.Context, root string, paths []string) (patch string, err error) {
	staged := func(path string) ([]byte, error) {
		text, err := git(ctx, root, "show", ":"+path)
		return []byte(text), err
	}
	const most = 8
	var twice error
	for lines := 1; lines <= most; lines++ {
		text, err := git(ctx, root, append([]string{"diff", "--no-color", "--no-ext-diff", fmt.Sprintf("-U%d", lines), "--"}, paths...)...)
		if err != nil {
			return "", err
		}
		patch = blobs.ReplaceAllString(text, "")
		if _, twice = (fault{patch: patch}).seed(staged); twice == nil {
			return patch, nil
		}
	}
	return "", twice
}

// git runs git in dir.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("git %s: %s", args[0], brief(string(failed.Stderr)))
	}
	return string(out), err
}
