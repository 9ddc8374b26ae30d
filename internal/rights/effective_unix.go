//go:build unix && !linux

package rights

import "syscall"

// setEffective changes the effective user and group of the process.
func setEffective(uid, gid int) error {
	if uid != root {
		if err := syscall.Setegid(gid); err != nil {
			return err
		}
		return syscall.Seteuid(uid)
	}
	if err := syscall.Seteuid(root); err != nil {
		return err
	}
	return syscall.Setegid(gid)
}
