//go:build unix

package durable

import (
	"errors"
	"os"
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
