package bolt

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// punch makes a part of a file read as zeros and gives its blocks back to the file
// system.
func punch(f *os.File, at, n int64) error {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, n)
	}
	return err
}
