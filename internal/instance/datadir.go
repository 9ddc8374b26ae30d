package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"pushbox/internal/durable"
	"pushbox/internal/hint"
)

// Permissions of the data directory.
const (
	dataDirMode = 0o700
	othersWrite = 0o022
	othersRead  = 0o055
)

// MakeDir durably makes a directory, and missing ones above it: a database must not be lost
// with its directory in a power cut. It reports false if the directory exists.
func MakeDir(dir string) (made bool, err error) {
	err = os.Mkdir(dir, dataDirMode)
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if _, err := MakeDir(parent); err != nil {
			return false, err
		}
		err = os.Mkdir(dir, dataDirMode)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, durable.SyncDir(parent)
}

// checkDir refuses a directory in which other users could replace the key or the database,
// and returns a warning if they can read it. Windows does not use modes for that.
func checkDir(dir string) (warning string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	mode := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return "", hint.With(fmt.Errorf("%s is not a directory", dir), "choose another with --data-dir")
	case runtime.GOOS == "windows":
		return "", nil
	case mode&othersWrite != 0:
		return "", hint.With(fmt.Errorf("other users can write to the data directory %s (mode %04o)", dir, mode), "run: chmod 700 %s", dir)
	case mode&othersRead != 0:
		return fmt.Sprintf("other users can read the data directory %s (mode %04o); better: chmod 700 %s", dir, mode, dir), nil
	}
	return "", nil
}
