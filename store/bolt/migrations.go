package bolt

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

const (
	// oldestSchema is the oldest layout that can be upgraded.
	oldestSchema = 4
	// taggedSchema is the oldest layout whose rows are as they are now: an upgrade copies them.
	taggedSchema = 6
	// sharedSchema is the number that builds between two releases gave to several layouts,
	// each with more buckets than the one before. The last of them is that of schema 7.
	sharedSchema = 6
)

// madeIn has the schemas in which buckets were added since the oldest one.
var madeIn = map[bucket]uint32{outbox: 5, hooks: 5, quotas: 5, requests: 6, requestOwners: 6, identities: 6, room: 6, events: 6}

// readSchema returns the schema of a file, or record.ErrSchema where that cannot be
// upgraded.
func readSchema(b *bbolt.Tx) (uint32, error) {
	m := b.Bucket(bucketNames[meta])
	if m == nil {
		return 0, fmt.Errorf("%w: it has no schema number", record.ErrSchema)
	}
	v := m.Get([]byte(metaSchema))
	if len(v) != 4 {
		return 0, fmt.Errorf("%w: its schema number is malformed", record.ErrSchema)
	}
	n := binary.BigEndian.Uint32(v)
	switch {
	case n > schemaNumber:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and none after it", record.ErrSchema, n, schemaNumber)
	case n < oldestSchema:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and can come from %d at the earliest; a version in between has to open it first",
			record.ErrSchema, n, schemaNumber, oldestSchema)
	}
	return n, nil
}

// wantBuckets refuses a file that lacks a bucket of its schema.
func wantBuckets(b *bbolt.Tx, schema uint32) error {
	for n, name := range bucketNames {
		switch made := madeIn[bucket(n)]; {
		case made > schema || b.Bucket(name) != nil:
		case made == sharedSchema && schema == sharedSchema:
			return fmt.Errorf("%w: its schema number is %d, but it has no %s, as builds between two releases left it", record.ErrSchema, schema, name)
		default:
			return fmt.Errorf("%w: bucket %s is missing", record.ErrCorrupt, name)
		}
	}
	return nil
}
