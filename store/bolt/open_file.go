package bolt

import (
	"errors"
	"math"
	"os"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// openNamed opens and locks the file that has that name. A lock that somebody
// had to wait for may be that of a file which lost its name to a compaction of
// the other process meanwhile: then it is let go of, and the new file is tried.
func openNamed(path string, timeout time.Duration) (*handle, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := max(time.Until(deadline), 1) // bbolt takes none for forever
		if err := tryUnlisted(path, left); err != nil {
			return nil, err
		}
		h, err := openHandle(path, bbolt.Options{Timeout: left}, examine)
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

// isNamed reports whether it is this file that path names.
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

// examine looks at a file before bbolt does, which had better not see some.
func examine(f *os.File) error {
	if err := checkHeader(f); err != nil {
		return err
	}
	return f.Sync() // what a killed process left in the cache may be shown to readers soon
}

// tryUnlisted reads all pages of a file that has no list of free pages. bbolt
// will do so to find them, but in a goroutine of its own, where a damaged page
// would end the process.
func tryUnlisted(path string, timeout time.Duration) error {
	if unlisted, err := isUnlisted(path); err != nil || !unlisted {
		return err
	}
	h, err := openHandle(path, bbolt.Options{Timeout: timeout, ReadOnly: true}, checkHeader)
	if err != nil {
		return err
	}
	err = h.read(func(t *tx) error {
		_, err := lookAtTrees(t.bolt, true)
		return err
	})
	h.noteDamage(err)
	return errors.Join(err, h.close())
}

func isUnlisted(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	h, ok, err := newestHeader(f)
	return ok && h.freelist == noFreelist, errors.Join(err, f.Close())
}

// initialMap is how much address space to map at once: remapping waits for
// every reader. It costs no memory and, but for Windows, no disk.
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
