//go:build linux || darwin || freebsd

package bolt

import "golang.org/x/sys/unix"

// dontNeed is advice: where it is not taken, nothing is wrong.
func dontNeed(mapping []byte) { _ = unix.Madvise(mapping, unix.MADV_DONTNEED) }
