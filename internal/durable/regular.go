package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file that exists. Where the last part of the path is a link, or the file is a
// pipe or a device, it returns an error and waits for nothing.
func OpenRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_CREATE|nonBlocking|noFollow, 0)
	if err != nil {
		if there, lookErr := os.Lstat(path); lookErr == nil && !there.Mode().IsRegular() {
			return nil, notRegular(path, there)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notRegular(path string, info fs.FileInfo) error {
	what := "no plain file"
	if info.Mode()&fs.ModeSymlink != 0 {
		what = "a link"
	}
	return fmt.Errorf("%s is %s", path, what)
}
