//go:build linux || darwin || freebsd

package bolt

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocated is how many bytes of the file system a file takes: less than its length
// where it has holes.
func allocated(f *os.File) (int64, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return 0, err
	}
	const unit = 512 // on every system, whatever a block has
	return s.Blocks * unit, nil
}

// inherit gives a new file the owner and the mode of another: a database that root
// compacted must stay open to its owner.
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

// unlock releases the lock of a file that is still mapped: closing the file does not,
// since the mapping goes on using it.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// dontNeed is advice: where it is not taken, nothing is wrong.
func dontNeed(mapping []byte) { _ = unix.Madvise(mapping, unix.MADV_DONTNEED) }
