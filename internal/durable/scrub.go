package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Scrub removes a file and overwrites what it held, so that it is neither in the
// directory nor in the blocks that the file system takes back. What has another name, a
// link for example, only loses this one. It is no error if the file is gone already, or
// may not be opened: then it is only removed, as all are on Windows.
func Scrub(path string) error {
	f := openToScrub(path)
	// First the name: nothing else can give the file another one from then on.
	return errors.Join(remove(path), scrubOpen(f))
}

// openToScrub opens a file that is about to lose its name; nil where it will not be
// overwritten.
func openToScrub(path string) *os.File {
	if !tellsNames {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|nonBlocking, 0)
	if err != nil {
		return nil
	}
	return f
}

func scrubOpen(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(Overwrite(f), f.Close())
}

const (
	scrubStep = 1 << 20 // bytes read or written at a time
	scrubSync = 8 << 20 // bytes written between two syncs
)

// Overwrite writes zeros over a regular file that no longer has a name, and syncs them. A file
// that still has a name stays as it is, and so does any file where the system does not
// tell whether it has. The position of f does not count, and does not move.
func Overwrite(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !isNameless(info) {
		return err
	}
	held, zeros := make([]byte, scrubStep), make([]byte, scrubStep)
	unsynced := 0
	for at := int64(0); at < info.Size(); at += scrubStep {
		n, err := f.ReadAt(held, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.Equal(held[:n], zeros[:n]) { // as in a hole, which writing would fill
			continue
		}
		if _, err := f.WriteAt(zeros[:n], at); err != nil {
			return err
		}
		if unsynced += n; unsynced >= scrubSync {
			unsynced = 0
			if err := f.Sync(); err != nil {
				return err
			}
		}
	}
	return f.Sync()
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
