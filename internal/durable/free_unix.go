//go:build linux || darwin || freebsd

package durable

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes a process without privileges may still write to the file
// system of a directory; known is false on a system that does not report it.
func FreeSpace(dir string) (bytes int64, known bool, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false, err
	}
	return int64(s.Bavail) * int64(s.Bsize), true, nil
}
