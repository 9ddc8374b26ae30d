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
	if !isRoot() {
		return filepath.EvalSymlinks(path)
	}
	dir, err := resolveDir(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, filepath.Base(path))
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	if owner, err := ownerOf(dir); err != nil || owner != root {
		return "", errors.Join(err, fmt.Errorf("%s is a link, and %w", path, errLed))
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // a link of root's
		return "", err
	}
	_, err = resolveDir(filepath.Dir(path))
	return path, err
}

// resolveDir is the part of Resolve about a directory.
func resolveDir(path string) (string, error) {
	given, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for part := given; part != filepath.Dir(part); part = filepath.Dir(part) {
		info, err := os.Lstat(part)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if owner, err := ownerOf(filepath.Dir(part)); err != nil || owner != root {
			return "", errors.Join(err, fmt.Errorf("%s is a link, and %w", part, errLed))
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	above, err := filepath.Abs(real)
	if err != nil {
		return "", err
	}
	owner, err := ownerOf(above)
	for err == nil && owner != root && above != filepath.Dir(above) {
		above = filepath.Dir(above)
		var higher int
		if higher, err = ownerOf(above); err == nil && higher == owner {
			err = fmt.Errorf("%s: %w", above, errLed)
		}
	}
	return real, err
}

var errLed = errors.New("the directory belongs to another user than root, who could lead it to any file: run the command as that user, or give the directory to root")

const root = 0 // the ID of the user

// ownerOf returns the ID of the user to whom a directory belongs; -1 on a system without such IDs.
func ownerOf(dir string) (int, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return -1, err
	}
	return uidOf(info), nil
}
