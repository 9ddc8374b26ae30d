//go:build unix

package seal

import (
	"io/fs"
	"os"
	"syscall"
)

// chownLike gives a file the owner and the group of another.
func chownLike(path string, like fs.FileInfo) error {
	theirs, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if ours, ok := info.Sys().(*syscall.Stat_t); ok && ours.Uid == theirs.Uid && ours.Gid == theirs.Gid {
		return nil
	}
	return os.Chown(path, int(theirs.Uid), int(theirs.Gid))
}
