package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/store"
)

// ReadKeyRing returns the sealed key ring of a database that nobody has open; nil if
// it has none. It reads databases of any schema, and writes nothing. The error wraps
// store.ErrInUse, store.ErrCorrupt, or fs.ErrNotExist.
func ReadKeyRing(ctx context.Context, path string, timeout time.Duration) (sealed []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = readAlone(path, timeout, func(b *bbolt.Tx) error {
		if m := b.Bucket(bucketNames[meta]); m != nil {
			sealed = bytes.Clone(m.Get([]byte(metaKeyRing)))
		}
		return nil
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", path, store.ErrInUse)
	case err != nil:
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	return sealed, nil
}

// readAlone reads a file that nobody has open, and writes nothing.
func readAlone(path string, timeout time.Duration, fn func(*bbolt.Tx) error) error {
	h, err := openHandle(path, bbolt.Options{Timeout: timeout, ReadOnly: true}, checkHeader)
	if err != nil {
		return err
	}
	err = h.read(func(t *tx) error {
		if _, err := lookAtTrees(t.bolt, false); err != nil {
			return err
		}
		return fn(t.bolt)
	})
	h.noteDamage(err)
	return errors.Join(err, h.close())
}
