//go:build unix

package doctor

import "golang.org/x/sys/unix"

func owner(path string) (uid uint32, known bool) {
	var s unix.Stat_t
	err := unix.Stat(path, &s)
	return s.Uid, err == nil
}
