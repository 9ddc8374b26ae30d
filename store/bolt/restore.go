package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// fleeting names the buckets whose rows do not come back with a backup: who was
// signed in, who was downloading, and what was to be sent.
var fleeting = []string{"sessions", "session_owners", "grants", "grant_pushes", "outbox"}

// forgetBatch is how many rows one operation forgets.
const forgetBatch = 1000

// Forget removes every session, every grant, and all messages that wait to be
// sent. The numbers of later sessions go on from where they were.
func (db *DB) Forget(ctx context.Context) error {
	for b := range bucketCount {
		if !slices.Contains(fleeting, b.String()) {
			continue
		}
		for more := true; more; {
			err := db.do(ctx, 0, func(t *tx) (err error) {
				more, err = t.empty(b, forgetBatch)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// empty deletes that many rows of a bucket, and tells whether there are more.
func (t *tx) empty(b bucket, limit int) (more bool, err error) {
	var met trail
	for range limit {
		k, _ := t.seek(b, nil)
		if k == nil {
			return false, nil
		}
		k, err := met.meet(b, k)
		if err == nil {
			err = t.delete(b, k)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// SealedRing returns the sealed key ring of a file that nobody writes to, and
// writes nothing itself. The error wraps store.ErrSchema if a later version of
// pushbox wrote the file, store.ErrCorrupt if it is no whole database, or has no
// key ring.
func SealedRing(path string) (sealed []byte, err error) {
	err = readAlone(path, defaultTimeout, func(b *bbolt.Tx) (err error) {
		sealed, err = ringOf(b)
		return err
	})
	return sealed, err
}

func ringOf(b *bbolt.Tx) ([]byte, error) {
	m := b.Bucket(bucketNames[meta])
	if m == nil {
		return nil, fmt.Errorf("%w: it is no database of pushbox", store.ErrSchema)
	}
	if v := m.Get([]byte(metaSchema)); len(v) == 4 && binary.BigEndian.Uint32(v) > schemaNumber {
		return nil, fmt.Errorf("%w: its schema number is %d, this version knows %d", store.ErrSchema, binary.BigEndian.Uint32(v), schemaNumber)
	}
	sealed := m.Get([]byte(metaKeyRing))
	if sealed == nil {
		return nil, fmt.Errorf("%w: its key ring is missing", store.ErrCorrupt)
	}
	return bytes.Clone(sealed), nil
}
