//go:build linux || darwin || freebsd

package doctor

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes a process without privileges may still write to the
// file system of dir.
func freeSpace(dir string) (bytes int64, known bool, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false, err
	}
	return int64(s.Bavail) * int64(s.Bsize), true, nil
}
