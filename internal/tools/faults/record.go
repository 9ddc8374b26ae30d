package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/tools/tool"
)

// record makes what has changed in the source tree since it was last staged the patch
// of a fault, whose head must be there, and restores those files.
func record(ctx context.Context, root, name string) error {
	path := filepath.Join(root, patches, name+".patch")
	text, err := os.ReadFile(path)
	if err != nil {
		return tool.Usagef("write the two lines of %s/%s.patch first: %v", patches, name, err)
	}
	f, err := parse(name, string(text))
	if err != nil {
		return err
	}
	head := strings.TrimRight(strings.TrimSuffix(string(text), f.patch), "\n") + "\n\n"
	if f.patch, err = changes(ctx, root); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(head+f.patch), 0o644); err != nil {
		return err
	}
	_, err = git(ctx, root, "", append([]string{"restore", "--"}, slices.Collect(maps.Keys(f.hunks()))...)...)
	return err
}

// blobs are lines that name contents by their hash: no use in a patch that is to
// outlast them.
var blobs = regexp.MustCompile(`(?m)^index .*\n`)

// changes returns the difference of the tree to what is staged, with as few lines of
// context as make each place the only one.
func changes(ctx context.Context, root string) (string, error) {
	staged := func(path string) ([]byte, error) {
		text, err := git(ctx, root, "", "show", ":"+path)
		return []byte(text), err
	}
	const most = 8
	for context := 1; ; context++ {
		text, err := git(ctx, root, "", "diff", "--no-color", "--no-ext-diff", fmt.Sprintf("-U%d", context), "--", ".", ":(exclude)"+filepath.Dir(patches))
		if err != nil {
			return "", err
		}
		if text == "" {
			return "", tool.Usagef("nothing has changed since it was staged: make the mistake in the code first")
		}
		f := fault{patch: blobs.ReplaceAllString(text, "")}
		if err = f.unique(staged); err == nil {
			return f.patch, nil
		}
		if context == most {
			return "", err
		}
	}
}
