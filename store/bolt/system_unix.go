//go:build linux || darwin || freebsd

package bolt

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocated is how many bytes of the file system a file uses: less than its length if it has holes.
func allocated(f *os.File) (int64, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return 0, err
	}
	const unit = 512 // the unit of Blocks on every system
	return s.Blocks * unit, nil
}

// unlock releases the lock of a file that is still mapped: closing the file does not,
// since the mapping keeps using it.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// dontNeed is only advice: the system may ignore it.
func dontNeed(mapping []byte) { _ = unix.Madvise(mapping, unix.MADV_DONTNEED) }
