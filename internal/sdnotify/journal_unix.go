//go:build unix

package sdnotify

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity is the device and inode of a file, as JOURNAL_STREAM has them.
func identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
