// Package durable writes files that survive a power cut. A file that was synced can still be
// missing then: its directory must be synced, too.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"pushbox/internal/humanize"
)

// SyncDir makes the names in a directory durable. Windows has no such call, and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.OpenFile(dir, os.O_RDONLY|nonBlocking, 0) // a pipe of another user waits for a writer
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Publish gives a finished and synced file its durable name, in the same directory. It never
// replaces a file: if the name is taken, it reports false. On a file system without links
// it looks and renames in two steps, and replaces a file that is made between them. The
// temporary name is gone in either case, and what did not get the durable one is overwritten, as
// Scrub does; after a crash RemoveLeftovers removes it.
func Publish(temp, path string) (published bool, err error) {
	err = os.Link(temp, path)
	if _, lookErr := os.Lstat(path); errors.Is(err, fs.ErrExist) || err != nil && lookErr == nil {
		return false, Scrub(temp)
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

// PublishNew is Publish with the error fs.ErrExist if there is a file of that name.
func PublishNew(temp, path string) error {
	published, err := Publish(temp, path)
	if err == nil && !published {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return err
}

// NewFile durably and atomically writes a new file of mode 0600. The error is fs.ErrExist if there
// is a file of that name. RemoveLeftovers removes leftovers of a crash.
func NewFile(path string, content []byte) error {
	temp, err := WriteTemp(path, content, nil)
	if err != nil {
		return err
	}
	return PublishNew(temp, path)
}

// WriteTemp durably writes a temporary file of mode 0600 beside path. RemoveLeftovers removes it after a
// crash. prepare, if it is not nil, may change the owner and the mode of the open file.
func WriteTemp(path string, content []byte, prepare func(*os.File) error) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPattern(path))
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil && prepare != nil {
		err = prepare(f)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, Scrub(f.Name()))
	}
	return f.Name(), nil
}

// Inherit gives a new file the owner and the mode of another: a user who could open that can open
// this. It uses no name, to which a user who may write the directory could have given a link.
func Inherit(to, from *os.File) error {
	if err := chownLike(to, from); err != nil {
		return fmt.Errorf("give the new file its owner: %w", err)
	}
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return to.Chmod(info.Mode().Perm())
}

// TempPattern is the pattern, as os.CreateTemp takes it, of temporary files that
// RemoveLeftovers finds.
func TempPattern(path string) string { return filepath.Base(path) + leftover + "*" }

const leftover = ".new-"

// RemoveLeftovers removes and overwrites the temporary files of path that a crash left, as
// Scrub does, and files with the name of one, a dot and an ending. It removes no file of
// another name. A publication that is in progress loses its file, and reports false or an
// error.
func RemoveLeftovers(path string) error {
	dir, prefix := filepath.Dir(path), filepath.Base(path)+leftover
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), prefix)
		number, _, _ = strings.Cut(number, ".") // a file beside a leftover is one, too
		if !ours || !isNumber(number) {
			continue
		}
		if err := Scrub(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// isNumber reports whether os.CreateTemp may put s in place of the star.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Replace atomically gives a finished and synced file the name of another one in the same
// directory. It reports false if the name certainly still leads to the old file. True
// with an error means that a power cut may bring the old file back.
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

// ReadBounded reads a whole file. It returns an error if the file has more than most bytes.
func ReadBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s is larger than %s", path, humanize.Size(most))
	}
	return b, errors.Join(err, f.Close())
}

// WriteFile atomically and durably writes a file of mode 0600: a reader finds the old content
// or the new one, also after a power cut. After an error it is the old one, unless only
// what follows failed: syncing the directory, and overwriting the old content, which Scrub
// does to a file that it removes.
// RemoveLeftovers removes what a crash leaves.
func WriteFile(path string, content []byte) error {
	temp, err := WriteTemp(path, content, nil)
	if err != nil {
		return err
	}
	old := openToScrub(path)
	replaced, err := Replace(temp, path)
	if !replaced {
		err = errors.Join(err, Scrub(temp))
	}
	return errors.Join(err, scrubOpen(old))
}
