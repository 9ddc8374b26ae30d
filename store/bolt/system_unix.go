//go:build linux || darwin || freebsd

package bolt

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes is what a process without privileges may still write to the file
// system of dir.
func freeBytes(dir string) (int64, bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false, err
	}
	return int64(s.Bavail) * int64(s.Bsize), true, nil
}

// unlock lets go of the lock of a file that is still mapped: closing it does
// not, since the mapping goes on using it.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
