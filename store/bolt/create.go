package bolt

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"pushbox/internal/durable"
)

// create makes an empty database under a temporary name and then gives it its name, so that the
// name never refers to an incomplete file. It reports false if another process made the file first.
func create(path string) (created bool, err error) {
	temp, err := prepare(path)
	if err == nil {
		created, err = durable.Publish(temp, path)
	}
	if err == nil {
		return created, nil
	}
	if temp != "" {
		_ = os.Remove(temp) // it is empty; or the next start removes it
	}
	if _, statErr := os.Stat(path); statErr == nil {
		return false, nil // another process removed our file as a leftover
	}
	return false, err
}

// prepare writes an empty database to the disk under a temporary name, and returns the name if the
// file exists.
func prepare(path string) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
	if err != nil {
		return "", err
	}
	return f.Name(), writeEmpty(f)
}

// writeEmpty fills a new file with empty buckets, syncs it and closes it. After a fault in the mapping
// bbolt releases nothing: the file stays open until the process ends soon after.
func writeEmpty(f *os.File) error {
	err := errors.Join(guard(func() error { return fillEmpty(f) }), f.Sync(), f.Close())
	if d := (*damageError)(nil); errors.As(err, &d) {
		return errors.New("what was written cannot be read back")
	}
	return err
}

func fillEmpty(f *os.File) error {
	o := bbolt.Options{Timeout: defaultTimeout, FreelistType: bbolt.FreelistMapType, OpenFile: existing(anyFile)}
	b, err := bbolt.Open(f.Name(), 0o600, &o)
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

// syncPath opens the file for writing: Windows syncs no other.
func syncPath(path string) error {
	f, err := durable.OpenRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
