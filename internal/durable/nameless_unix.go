//go:build unix

package durable

import (
	"io/fs"
	"os"
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

func isRoot() bool { return os.Geteuid() == 0 }

func uidOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// hasOtherNames reports whether a file has more names than one.
func hasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
