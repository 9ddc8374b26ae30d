//go:build unix

package durable

import (
	"io/fs"
	"syscall"
)

const (
	tellsNames  = true               // isNameless knows
	nonBlocking = syscall.O_NONBLOCK // opening a pipe does not wait for a writer
	noFollow    = syscall.O_NOFOLLOW // opening a link is an error
)

// isNameless reports whether a file has no name left in any directory.
func isNameless(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
