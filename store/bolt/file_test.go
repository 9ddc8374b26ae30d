package bolt_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

var pageSize = int64(os.Getpagesize())

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// tear spoils a header page as half a write does.
func tear(t *testing.T, path string, page int) {
	t.Helper()
	overwrite(t, path, int64(page)*pageSize+16+40, 16)
}

// damage spoils the head of a page: its kind, for one.
func damage(t *testing.T, path string, page uint64) {
	t.Helper()
	overwrite(t, path, int64(page)*pageSize, 16)
}

func overwrite(t *testing.T, path string, at int64, n int) {
	t.Helper()
	b := read(t, path)
	for i := range n {
		b[at+int64(i)] ^= 0xa5
	}
	write(t, path, b)
}

// newest is the header that counts, from its magic number on.
func newest(t *testing.T, path string) []byte {
	t.Helper()
	b := read(t, path)
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

// usedBytes is how long the file has to be.
func usedBytes(t *testing.T, path string) int64 {
	t.Helper()
	return int64(binary.NativeEndian.Uint64(newest(t, path)[40:])) * pageSize
}

// mount mounts an empty file system in memory, or skips the test where that is
// not allowed.
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
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// remount changes the options of what mount mounted.
func remount(t *testing.T, dir, options string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+options, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}
