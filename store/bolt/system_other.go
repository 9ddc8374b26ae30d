//go:build !linux && !darwin && !freebsd

package bolt

import "os"

// allocated returns the length: on this system files have no holes.
func allocated(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// unlock does nothing: closing the file releases the lock.
func unlock(*os.File) error { return nil }

// dontNeed does nothing: the system decides.
func dontNeed([]byte) {}
