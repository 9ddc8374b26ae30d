package daemon

import (
	"errors"

	"golang.org/x/sys/unix"
)

// harden keeps the memory of the process out of core dumps, and the files that it makes
// from other users. PR_SET_DUMPABLE is for dumps that Linux pipes to a program, which
// ignore the limit; it also keeps other processes of the same user from reading this
// one's memory.
func harden() error {
	unix.Umask(0o077)
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}),
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0),
	)
}
