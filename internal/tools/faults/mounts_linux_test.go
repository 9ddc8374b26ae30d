package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFileSystemsThatATestLeftAreUnmounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outer := filepath.Join(dir, "a disk")
	inner := filepath.Join(outer, "another")
	for _, path := range []string{outer, inner} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		err := syscall.Mount("none", path, "tmpfs", 0, "size=64k")
		if errors.Is(err, syscall.EPERM) {
			t.Skip("only root may mount")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := unmountBelow(dir); err != nil {
		t.Error(err)
	}
	if err := os.Remove(outer); err != nil {
		t.Errorf("it is still mounted: %v", err)
	}
}
