package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/store/record"
)

// An Upgrade is what Unlock will do to a file of an older schema.
type Upgrade struct {
	From, To uint32 // schemas
	Room     int64  // bytes that it needs free on the file system
}

// FindUpgrade returns the upgrade that a database awaits that is not in use; nil if it has
// the present schema. It writes nothing. The error wraps record.ErrInUse, record.ErrCorrupt,
// record.ErrSchema if it cannot be upgraded, or fs.ErrNotExist.
func FindUpgrade(path string, timeout time.Duration) (u *Upgrade, err error) {
	o := bbolt.Options{Timeout: timeout, PreLoadFreelist: true} // which says how much is in use
	err = readWith(path, o, false, func(t *tx) error {
		found, err := readSchema(t.bolt)
		if err == nil && found != schemaNumber {
			u = &Upgrade{From: found, To: schemaNumber, Room: upgradeRoom(t.bolt.Size()-t.unused()) + copyReserve}
		}
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) {
		err = record.ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}
