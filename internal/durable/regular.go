package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenRegular opens a regular file that exists. Where the last part of the path is a link, or the file is a
// pipe or a device, it returns an error and waits for nothing: the owner of a directory may have fewer rights than
// this process, and can put anything there.
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

// Resolve returns the path of a file without links, so that its last part can be replaced. While root works in
// a directory of another user, that user could lead parts of the path to any file of the machine. So as root it
// returns an error for a link in such a directory, and for such a directory below another one of the same user.
func Resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !isRoot() {
		return real, err
	}
	given, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for part := given; part != filepath.Dir(part); part = filepath.Dir(part) {
		info, err := os.Lstat(part)
		if err != nil {
			return "", err
		}
		if owner := ownerOf(filepath.Dir(part)); info.Mode()&fs.ModeSymlink != 0 && owner != root {
			return "", fmt.Errorf("%s is a link, and %w", part, errLed)
		}
	}
	dir, err := filepath.Abs(filepath.Dir(real))
	if err != nil {
		return "", err
	}
	for owner := ownerOf(dir); owner != root && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if ownerOf(dir) == owner {
			return "", fmt.Errorf("%s: %w", dir, errLed)
		}
	}
	return real, nil
}

var errLed = errors.New("the directory belongs to another user than root, who could lead it to any file: run the command as that user, or give the directory to root")

const root = 0 // the ID of the user

// ownerOf returns the ID of the user to whom a directory belongs; -1 if it is unknown.
func ownerOf(dir string) int {
	info, err := os.Stat(dir)
	if err != nil {
		return -1
	}
	return uidOf(info)
}
