//go:build unix

package seal

import (
	"io/fs"
	"os"
	"syscall"
)

// chownLike gives an open file the owner and the group of another.
func chownLike(f *os.File, like fs.FileInfo) error {
	theirs, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if ours, ok := info.Sys().(*syscall.Stat_t); ok && ours.Uid == theirs.Uid && ours.Gid == theirs.Gid {
		return nil
	}
	return f.Chown(int(theirs.Uid), int(theirs.Gid))
}
