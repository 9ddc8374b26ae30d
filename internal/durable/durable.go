// Package durable makes names of files last: a file that was synced is not there
// after a power cut unless its directory was, too.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// SyncDir makes the names in a directory last. Windows has no such call, and
// needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Publish gives a finished and synced file its name, in the same directory, but
// never takes that name from a file that is there: then it reports false. On a
// file system without links, looking and naming are two steps, and a file that is
// made between them is replaced. The temporary name is gone either way, and the
// new name lasts; a crash in between leaves what RemoveLeftovers removes.
func Publish(temp, path string) (published bool, err error) {
	err = os.Link(temp, path)
	if _, lookErr := os.Lstat(path); errors.Is(err, fs.ErrExist) || err != nil && lookErr == nil {
		return false, remove(temp)
	}
	if err == nil {
		err = remove(temp)
	} else { // a file system without links
		err = os.Rename(temp, path)
	}
	if err != nil {
		return false, err
	}
	return true, SyncDir(filepath.Dir(path))
}

// TempPattern is the pattern, as os.CreateTemp takes it, of temporary files that
// RemoveLeftovers finds.
func TempPattern(path string) string { return filepath.Base(path) + leftover + "*" }

const leftover = ".new-"

// RemoveLeftovers removes what publications under path that were cut short left
// behind, what is named after that with a dot between, and nothing that somebody
// named in words. One that is going on loses
// its file and reports false, or an error.
func RemoveLeftovers(path string) error {
	dir, prefix := filepath.Dir(path), filepath.Base(path)+leftover
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), prefix)
		number, _, _ = strings.Cut(number, ".") // what was kept beside a leftover is one, too
		if !ours || !isNumber(number) {
			continue
		}
		if err := remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// isNumber reports whether s is what os.CreateTemp puts for the star.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// remove removes a file that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Replace gives a finished and synced file the name of another one in the same
// directory, in one step. It reports false where the name certainly still stands
// for what it stood for; true and an error together mean that a power cut may
// bring that back.
func Replace(temp, path string) (replaced bool, err error) {
	ours, err := os.Lstat(temp)
	if err != nil {
		return false, err
	}
	if err := os.Rename(temp, path); err != nil {
		there, lookErr := os.Lstat(path)
		return lookErr != nil || os.SameFile(ours, there), errors.Join(err, lookErr)
	}
	return true, SyncDir(filepath.Dir(path))
}
