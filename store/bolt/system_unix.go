//go:build linux || darwin || freebsd

package bolt

import (
	"errors"
	"fmt"
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

// inherit gives a new file the owner and the mode of another, whoever makes it:
// a database that became somebody else's could not be opened any more.
func inherit(to, from *os.File) error {
	var theirs, ours unix.Stat_t
	if err := errors.Join(unix.Fstat(int(from.Fd()), &theirs), unix.Fstat(int(to.Fd()), &ours)); err != nil {
		return err
	}
	if theirs.Uid != ours.Uid || theirs.Gid != ours.Gid {
		if err := to.Chown(int(theirs.Uid), int(theirs.Gid)); err != nil {
			return fmt.Errorf("give the copy the owner of the database: %w", err)
		}
	}
	return to.Chmod(os.FileMode(theirs.Mode).Perm())
}

// unlock lets go of the lock of a file that is still mapped: closing it does
// not, since the mapping goes on using it.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
