package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"pushbox/internal/durable"
)

// Permissions of the data directory.
const (
	dataDirMode = 0o700
	othersWrite = 0o022
	othersRead  = 0o055
)

// makeDir makes a directory, and those above it that are missing, for good: a
// power cut must not take the database with it. It reports false if the
// directory exists.
func makeDir(dir string) (made bool, err error) {
	err = os.Mkdir(dir, dataDirMode)
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if _, err := makeDir(parent); err != nil {
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

// checkDir refuses a directory in which others could replace the key or the
// database, and warns of one that they can look into. Windows has other ways
// to say who may.
func checkDir(dir string) (warning string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	mode := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return "", withHint(fmt.Errorf("%s is not a directory", dir), "choose another with --data-dir")
	case runtime.GOOS == "windows":
		return "", nil
	case mode&othersWrite != 0:
		return "", withHint(fmt.Errorf("other users can write to the data directory %s (mode %04o)", dir, mode), "run: chmod 700 %s", dir)
	case mode&othersRead != 0:
		return fmt.Sprintf("other users can look into the data directory %s (mode %04o); better: chmod 700 %s", dir, mode, dir), nil
	}
	return "", nil
}
