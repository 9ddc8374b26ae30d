//go:build unix

package cli

import "golang.org/x/sys/unix"

// disableCores keeps the memory of the process out of core files.
func disableCores() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
