//go:build unix

package cli

import (
	"os"
	"syscall"
)

// giveToOwnerOf makes a file that of whom a directory belongs to: what root restores
// into a server's directory, the server must be able to open.
func giveToOwnerOf(dir, path string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
