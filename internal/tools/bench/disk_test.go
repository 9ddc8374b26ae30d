package main

import (
	"strings"
	"testing"
)

func TestAPathIsOnTheLongestMount(t *testing.T) {
	t.Parallel()
	const mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/disk xfs rw 0 0\n/dev/c /home ext4 rw 0 0\ntmpfs /home tmpfs rw 0 0\nshort /x\n"
	for path, want := range map[string]string{
		"/": "ext4", "/var": "ext4", "/tmp": "tmpfs", "/tmp/a": "tmpfs", "/tmpx": "ext4",
		"/tmp/disk": "xfs", "/tmp/disk/a": "xfs", "/tmp/diskette": "tmpfs", "/home/me": "tmpfs",
	} {
		if got := kindOf(path, mounts); got != want {
			t.Errorf("%s: got %s", path, got)
		}
	}
	if got := kindOf("/", ""); got != unknown {
		t.Errorf("without mounts: got %s", got)
	}
}

func TestDataIsKeptOutOfMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if inMemory(fileSystem(dir)) {
		t.Skip("the tests' own directory is in memory")
	}
	got, err := diskDir(dir+"/none", "/dev/shm", dir)
	if err != nil || got != dir && got != "/dev/shm" || got == "/dev/shm" && inMemory(fileSystem(got)) {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := diskDir(dir + "/none"); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("got %v", err)
	}
}
