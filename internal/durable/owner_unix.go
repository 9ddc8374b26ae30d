//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// chownLike gives an open file the owner and the group of another.
func chownLike(to, from *os.File) error {
	is, err := to.Stat()
	like, fromErr := from.Stat()
	if err = errors.Join(err, fromErr); err != nil {
		return err
	}
	ours, known := is.Sys().(*syscall.Stat_t)
	theirs, knownToo := like.Sys().(*syscall.Stat_t)
	if !known || !knownToo || ours.Uid == theirs.Uid && ours.Gid == theirs.Gid {
		return nil
	}
	return to.Chown(int(theirs.Uid), int(theirs.Gid))
}

// OwnAsDir gives a new file the owner and the group of its directory, if this process is root: the server must be able to
// open what root puts into its directory. It uses the open file, since the owner of the directory may meanwhile
// give its name to another one.
func OwnAsDir(f *os.File) error {
	if !isRoot() {
		return nil
	}
	dir, err := os.Open(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	return errors.Join(chownLike(f, dir), dir.Close())
}
