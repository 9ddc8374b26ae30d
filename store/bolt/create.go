package bolt

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"
)

// leftover is what the names of unfinished files end with, a number aside.
const leftover = ".new-"

// create makes an empty database under a name of its own and then gives it the
// name asked for, so that under that name there is never less than the whole.
// It reports false where another process was quicker.
func create(path string) (created bool, err error) {
	temp, err := prepare(path)
	if err == nil {
		created, err = publish(temp, path)
	}
	if temp != "" {
		_ = os.Remove(temp) // or it is a leftover
	}
	if _, statErr := os.Stat(path); err != nil && statErr == nil {
		return false, nil // the quicker one took our file for a leftover of its own
	}
	if err != nil || !created {
		return false, err
	}
	return true, syncDir(filepath.Dir(path))
}

// prepare writes an empty database to the disk under a new name, which it
// returns once there is such a file.
func prepare(path string) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+leftover+"*")
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.Close(), writeEmpty(f.Name())); err != nil {
		return f.Name(), err
	}
	return f.Name(), syncPath(f.Name())
}

// writeEmpty fills a new file with empty buckets.
func writeEmpty(path string) error {
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: defaultTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = b.Update(func(t *bbolt.Tx) error {
		for _, name := range bucketNames {
			if _, err := t.CreateBucket(name); err != nil {
				return err
			}
		}
		return t.Bucket(bucketNames[meta]).Put([]byte(metaSchema), binary.BigEndian.AppendUint32(nil, schemaNumber))
	})
	return errors.Join(err, b.Close())
}

// publish gives a finished file its name, but never takes the name from a file
// that another process made meanwhile.
func publish(temp, path string) (bool, error) {
	err := os.Link(temp, path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	default: // a file system without links
		err = os.Rename(temp, path)
		return err == nil, err
	}
}

// removeLeftovers removes the unfinished files of creations that were cut
// short. Whoever calls it holds the file itself, so that none can succeed.
func removeLeftovers(path string) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if match, err := filepath.Match(base+leftover+"*", e.Name()); err != nil || !match {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes new names in a directory last. Windows has no such call, and
// needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syncPath(dir)
}
