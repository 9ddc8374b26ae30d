package pgtest

import "syscall"

// dieWithParent has the system end the server with this process.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }

// inMemory is the directory of clusters that no test kills: memory, where there is enough of it, since
// making and dropping databases is nearly all of what they do. Empty: that of temporary files.
func inMemory() string {
	const memory, enough = "/dev/shm", 2 << 30
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err != nil || s.Bavail*uint64(s.Bsize) < enough {
		return ""
	}
	return memory
}
