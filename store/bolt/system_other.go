//go:build !linux && !darwin && !freebsd

package bolt

import "os"

// allocated is taken to be the length: no holes are made here.
func allocated(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// unlock leaves the lock to the closing of the file.
func unlock(*os.File) error { return nil }

// dontNeed is left to the system here.
func dontNeed([]byte) {}
