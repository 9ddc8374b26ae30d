package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// verify builds the release again, from a copy of the tree in another directory and
// with an empty build cache, and compares it with o.dist.
func verify(ctx context.Context, src source, o options, notes io.Writer) error {
	fmt.Fprintln(notes, "the same again, in another directory")
	temp, err := os.MkdirTemp("", "pushbox-somewhere-else-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	copied, err := src.copyTo(ctx, filepath.Join(temp, "tree"))
	if err != nil {
		return err
	}
	again := job{
		source: copied, targets: o.targets, dist: filepath.Join(temp, "dist"), work: filepath.Join(temp, "work"),
		environ: []string{"GOCACHE=" + filepath.Join(temp, "cache")}, notes: notes,
	}
	if _, err := makeAll(ctx, again); err != nil {
		return err
	}
	return compare(o.dist, again.dist, notes)
}

// compare fails unless two directories hold the same files.
func compare(one, other string, notes io.Writer) error {
	names, err := namesIn(one)
	if err != nil {
		return err
	}
	names2, err := namesIn(other)
	if err != nil {
		return err
	}
	if !slices.Equal(names, names2) {
		return fmt.Errorf("the second build made other files: %s; the first one: %s", strings.Join(names2, " "), strings.Join(names, " "))
	}
	var differ []string
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("the second build made other bytes of these files, so they cannot be reproduced: %s", strings.Join(differ, " "))
	}
	fmt.Fprintf(notes, "%d files are the same, byte for byte\n", len(names))
	return nil
}
