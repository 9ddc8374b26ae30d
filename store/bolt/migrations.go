package bolt

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// oldestSchema is the oldest layout that there is a way from.
const oldestSchema = schemaNumber - uint32(len(migrations))

// A migration brings a file from one schema to the next, within a transaction that
// others may follow in.
type migration func(*bbolt.Tx) error

// migrations are the steps to the present schema, the oldest first: the last leads
// to schemaNumber, the one before to schemaNumber-1, and so on.
var migrations = [...]migration{
	from4to5,
}

// from4to5 adds the buckets of what is to be sent. Payloads and chunks that are
// there go on without digests.
func from4to5(b *bbolt.Tx) error {
	for _, name := range []bucket{outbox, hooks, quotas} {
		if _, err := b.CreateBucket(bucketNames[name]); err != nil {
			return fmt.Errorf("make the bucket %s: %w", name, err)
		}
	}
	return nil
}

// readSchema returns the schema of a file, unless it is one that there is no way
// from.
func readSchema(b *bbolt.Tx) (uint32, error) {
	m := b.Bucket(bucketNames[meta])
	if m == nil {
		return 0, fmt.Errorf("%w: it has no schema number", store.ErrSchema)
	}
	v := m.Get([]byte(metaSchema))
	if len(v) != 4 {
		return 0, fmt.Errorf("%w: its schema number is malformed", store.ErrSchema)
	}
	n := binary.BigEndian.Uint32(v)
	switch {
	case n > schemaNumber:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and none after it", store.ErrSchema, n, schemaNumber)
	case n < oldestSchema:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and can come from %d at the earliest; a version in between has to open it first",
			store.ErrSchema, n, schemaNumber, oldestSchema)
	}
	return n, nil
}

// migrate takes the steps from a schema to the present one. It refuses a file that
// lacks something.
func migrate(b *bbolt.Tx, from uint32) error {
	for n := from; n < schemaNumber; n++ {
		if err := migrations[n-oldestSchema](b); err != nil {
			return err
		}
	}
	if err := wantBuckets(b); err != nil {
		return err
	}
	return b.Bucket(bucketNames[meta]).Put([]byte(metaSchema), binary.BigEndian.AppendUint32(nil, schemaNumber))
}
