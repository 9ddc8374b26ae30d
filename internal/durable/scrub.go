package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Scrub removes a file and overwrites its content, so that neither the directory nor the freed
// blocks have it. A file with another name, such as a link, only loses this name. A missing file is
// no error. A file that cannot be opened is only removed, as all files are on Windows.
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
	f, err := OpenRegular(path, os.O_RDWR)
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

// Overwrite writes zeros over a regular file that no longer has a name, and syncs them. It does not
// change a file that still has a name, or on a system that cannot tell. The position of f does not
// count, and does not move.
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
