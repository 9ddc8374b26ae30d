//go:build unix

package cli

import (
	"errors"

	"golang.org/x/sys/unix"
)

// harden keeps the memory of the process out of core dumps, and whatever files
// it makes from other users. The control socket has the mode that the umask
// leaves it until its own is set.
func harden() error {
	unix.Umask(0o077)
	return errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}), undumpable())
}
