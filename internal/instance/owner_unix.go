//go:build unix

package instance

import (
	"os"
	"syscall"
)

// GiveToOwnerOf gives a file the owner and group of a directory, if this process is root: the
// server must be able to open what root puts into its directory. It follows no link, which the
// owner of the directory could have made.
func GiveToOwnerOf(dir, path string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}
