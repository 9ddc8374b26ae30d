package rights

import "syscall"

// setEffective changes the effective user and group of the process. The saved user stays root: otherwise the user could send
// signals to this process.
func setEffective(uid, gid int) error {
	if uid != root {
		if err := syscall.Setresgid(-1, gid, root); err != nil {
			return err
		}
		return syscall.Setresuid(-1, uid, root)
	}
	if err := syscall.Setresuid(-1, root, root); err != nil {
		return err
	}
	return syscall.Setresgid(-1, gid, root)
}
