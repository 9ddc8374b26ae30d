//go:build darwin || freebsd

package doctor

import "golang.org/x/sys/unix"

func fileSystem(dir string) (kind string, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	return unix.ByteSliceToString(s.Fstypename[:]), nil
}
