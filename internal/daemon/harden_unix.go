//go:build unix && !linux

package daemon

import "golang.org/x/sys/unix"

// harden keeps the memory of the process out of core dumps, and the files that it makes
// from other users.
func harden() error {
	unix.Umask(0o077)
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
