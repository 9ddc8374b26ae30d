package bolt_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"pushbox/internal/testkit/env"
)

var pageSize = int64(os.Getpagesize())

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	env.OK(t, os.WriteFile(path, b, 0o600))
}

func remove(t *testing.T, path string) {
	t.Helper()
	env.OK(t, os.Remove(path))
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	env.OK(t, os.RemoveAll(path))
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	env.OK(t, os.Mkdir(path, 0o700))
}

func cut(t *testing.T, path string, size int64) {
	t.Helper()
	env.OK(t, os.Truncate(path, size))
}

// tear damages a header page as half a write does.
func tear(t *testing.T, path string, page int) {
	t.Helper()
	overwrite(t, path, int64(page)*pageSize+16+40, 16)
}

// damage overwrites the head of a page, for example its kind.
func damage(t *testing.T, path string, page uint64) {
	t.Helper()
	overwrite(t, path, int64(page)*pageSize, 16)
}

func overwrite(t *testing.T, path string, at int64, n int) {
	t.Helper()
	b := env.Read(t, path)
	for i := range n {
		b[at+int64(i)] ^= 0xa5
	}
	write(t, path, b)
}

// newest is the header in use, from its magic number on.
func newest(t *testing.T, path string) []byte {
	t.Helper()
	b := env.Read(t, path)
	first, second := b[16:80], b[pageSize+16:pageSize+80]
	if binary.NativeEndian.Uint64(second[48:]) > binary.NativeEndian.Uint64(first[48:]) {
		return second
	}
	return first
}

func rootPage(t *testing.T, path string) uint64 {
	t.Helper()
	return binary.NativeEndian.Uint64(newest(t, path)[16:])
}

func freelistPage(t *testing.T, path string) uint64 {
	t.Helper()
	return binary.NativeEndian.Uint64(newest(t, path)[32:])
}

// usedBytes is the least length that the file must have.
func usedBytes(t *testing.T, path string) int64 {
	t.Helper()
	return int64(binary.NativeEndian.Uint64(newest(t, path)[40:])) * pageSize
}

// mount mounts an empty file system in memory, or skips the test if that is not
// allowed.
func mount(t *testing.T, options string) (dir string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root on Linux")
	}
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		// Lazily: a process that another test is about to start has a copy of each open file.
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// remount changes the mount options of a file system of mount.
func remount(t *testing.T, dir, options string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+options, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}
