package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// freeCost is about how many bytes a commit writes to free a chunk.
const freeCost = 2 << 10

// rowWeight is about how many bytes a row takes beside its value.
const rowWeight = 64

// PutChunks keeps chunks of a file whose push does not exist yet.
func (db *DB) PutChunks(ctx context.Context, id record.ID, file, first int, sealed [][]byte) error {
	size, sums := 0, make([]byte, 0, len(sealed)*sumLen)
	for _, c := range sealed {
		size += len(c) + rowWeight
		sums = appendSum(sums, c)
	}
	return db.doBulk(ctx, size, size, func(t *tx) error {
		if t.has(pushes, id[:]) {
			return record.ErrExists
		}
		if err := t.reserveLong(size, *db.limits.Load(), durable.FreeSpace); err != nil {
			return err
		}
		if !t.has(orphans, id[:]) {
			if err := t.put(orphans, id[:], nil); err != nil {
				return err
			}
		}
		return t.putChunks(id, file, first, sealed, sums)
	})
}

// pads is how many short rows follow the chunks of a step. bbolt does not split a
// leaf of up to four rows: without pads the last four of a file would be chunks, which
// the next step would write again. The value of the first pad is the digests of the
// step's chunks, one after the other; the others are empty.
const pads = 4

func (t *tx) putChunks(id record.ID, file, first int, sealed [][]byte, sums []byte) error {
	for i, c := range sealed {
		if err := t.put(chunks, chunkKey(id, file, first+i), c); err != nil {
			return err
		}
	}
	for i := range pads {
		if err := t.put(chunks, padKey(id, file, first+len(sealed)-1, i), sums); err != nil {
			return err
		}
		sums = nil
	}
	return nil
}

// Chunk appends a chunk of a file to dst and returns the grant under which it was read.
func (db *DB) Chunk(ctx context.Context, d record.GrantDigest, file, n int, dst []byte) (g record.Grant, sealed []byte, err error) {
	err = db.view(ctx, func(t *tx) error {
		if g, err = t.grant(d); err != nil {
			return err
		}
		v := t.get(chunks, chunkKey(g.Push, file, n))
		if v == nil {
			return fmt.Errorf("%w: chunk %d of file %d of push %s is missing", record.ErrCorrupt, n, file, g.Push)
		}
		t.noteRead(len(v))
		sealed = slices.Grow(dst, len(v))[:len(dst)+len(v)]
		return t.copyValue(sealed[len(dst):], v)
	})
	if err != nil {
		return record.Grant{}, nil, err
	}
	return g, sealed, nil
}

// Orphans lists the IDs of orphaned chunks, from the first after the one given.
func (db *DB) Orphans(ctx context.Context, after record.ID, limit int) ([]record.ID, error) {
	return viewed(ctx, db, func(t *tx) (ids []record.ID, err error) {
		c := t.cursor(orphans)
		for k, _ := c.Seek(append(after[:], 0)); len(k) == idLen && len(ids) < limit; k, _ = c.Next() {
			ids = append(ids, record.ID(k))
		}
		return ids, nil
	})
}

// FreeOrphans removes orphaned chunks of an ID.
func (db *DB) FreeOrphans(ctx context.Context, id record.ID, limit int) (more bool, err error) {
	err = db.doBulk(ctx, 0, limit*freeCost, func(t *tx) error {
		more = false
		if !t.has(orphans, id[:]) {
			return nil
		}
		if p, err := t.push(id); err == nil && p.HoldsFiles() { // the row is not believed
			return nil
		} else if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		var last lastKey
		for n := 0; ; {
			k, _ := t.seekStored(chunks, id[:])
			if len(k) == chunkLen { // pads go with the chunk before them
				n++
			}
			if n > limit || !bytes.HasPrefix(k, id[:]) {
				break
			}
			k, err := last.advance(chunks, k)
			if err == nil {
				err = t.delete(chunks, k)
			}
			if err != nil {
				return err
			}
			t.touched += pageCluster
		}
		if more = t.hasPrefix(chunks, id[:]); more {
			return nil
		}
		return t.delete(orphans, id[:])
	})
	return more, err
}

// release makes orphans of a push's chunks and ends its grants.
func (t *tx) release(id record.ID) error {
	if err := t.put(orphans, id[:], nil); err != nil {
		return err
	}
	return t.removeEach(grantPushes, id[:], func(k, _ []byte) error { return t.dropGrant(k) })
}
