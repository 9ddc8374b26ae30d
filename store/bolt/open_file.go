package bolt

import (
	"errors"
	"math"
	"os"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/store/bolt/page"
)

// openNamed opens and locks the file of that name. While it waits for the lock of
// another process, a compaction of that process may give the name to another file; then
// it tries that one.
func openNamed(path string, timeout time.Duration) (*handle, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := max(time.Until(deadline), 1) // bbolt takes none for forever
		if err := verifyUnlisted(path, left); err != nil {
			return nil, err
		}
		var opened os.FileInfo
		h, err := openHandle(path, bbolt.Options{Timeout: left}, func(f *os.File) (err error) {
			if opened, err = f.Stat(); err == nil {
				err = examine(f)
			}
			return err
		})
		if there, statErr := os.Stat(path); err != nil && opened != nil && statErr == nil && !os.SameFile(opened, there) && time.Until(deadline) > 0 {
			continue // it was replaced, and has been overwritten
		}
		if err != nil {
			return nil, err
		}
		named, err := h.isNamed(path)
		if err == nil && named {
			return h, nil
		}
		if err := errors.Join(err, h.close()); err != nil {
			return nil, err
		}
		if time.Until(deadline) <= 0 {
			return nil, berrors.ErrTimeout
		}
	}
}

// isNamed reports whether path names this file.
func (h *handle) isNamed(path string) (bool, error) {
	there, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	ours, err := h.file.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(there, ours), nil
}

// examine checks a file before bbolt opens it: bbolt crashes on some files.
func examine(f *os.File) error {
	if err := page.CheckHeader(f); err != nil {
		return err
	}
	return f.Sync() // readers may soon see what a killed process left in the cache
}

// verifyUnlisted verifies all pages of a file without a list of free pages. bbolt reads
// them all to find the free ones, but in a goroutine of its own, where a damaged page
// would end the process.
func verifyUnlisted(path string, timeout time.Duration) error {
	if unlisted, err := lacksFreeList(path); err != nil || !unlisted {
		return err
	}
	return readAlone(path, timeout, true, func(*tx) error { return nil })
}

func lacksFreeList(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	listed, err := page.HasFreeList(f)
	return err == nil && !listed, errors.Join(err, f.Close())
}

// initialMap is how much address space to map at once: remapping waits for every
// reader. It costs no memory and, except on Windows, no disk.
func initialMap() int {
	switch {
	case runtime.GOOS == "windows":
		return 0
	case math.MaxInt == math.MaxInt32:
		return 64 << 20
	default:
		return 1 << 30
	}
}
