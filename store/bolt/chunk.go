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

// freeCost is the approximate number of bytes that a commit writes to free a chunk.
const freeCost = 2 << 10

// rowWeight is the approximate size of a row without its value, in bytes.
const rowWeight = 64

// PutChunks stores chunks of a file whose push does not exist yet.
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

// pads is how many short rows follow the chunks of a step. bbolt does not split a leaf of up to
// four rows: without pads the last four of a file would be chunks, which the next step would write
// again. The value of the first pad is the concatenated digests of the step's chunks; the others
// are empty.
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
		if p, err := t.push(id); err == nil && p.HoldsFiles() { // pushbox did not write the row
			return nil
		} else if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		var last lastKey
		for n := 0; ; {
			k, _ := t.seekStored(chunks, id[:])
			if len(k) == chunkLen { // pads are removed with the chunk before them
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
	return t.dropGrants(id)
}

// dropGrants removes the grants of a push.
func (t *tx) dropGrants(id record.ID) error {
	return t.removeEach(grantPushes, id[:], func(k, _ []byte) error { return t.dropGrant(k) })
}

// maxStale is how many grants of a push issueGrant checks to remove ended ones: enough that they do
// not accumulate.
const maxStale = 16

// Grant returns the grant of that digest and its push.
func (db *DB) Grant(ctx context.Context, d record.GrantDigest) (g record.Grant, p record.Push, err error) {
	err = db.view(ctx, func(t *tx) error {
		if g, err = t.grant(d); err != nil {
			return err
		}
		p, err = t.push(g.Push)
		return err
	})
	return g, p, err
}

// ChangeGrant applies r to the grant and to its push.
func (db *DB) ChangeGrant(ctx context.Context, d record.GrantDigest, r record.GrantRule) (record.Grant, error) {
	return changed(ctx, db, func(t *tx) (next record.Grant, err error) {
		g, err := t.grant(d)
		if err != nil {
			return next, err
		}
		p, err := t.push(g.Push)
		if err != nil {
			return next, err
		}
		var now record.Push
		var keep bool
		if err := record.CatchPanic(func() { now, next, keep = r(p, g) }); err != nil {
			return next, err
		}
		if !keep {
			return next, t.dropGrant(grantRow(g))
		}
		if next.ExpiresAt.Equal(g.ExpiresAt) {
			return next, nil
		}
		if err := t.putGrant(next); err != nil {
			return next, err
		}
		return next, t.update(p, record.Change{Push: now}, *db.limits.Load())
	})
}

// grant returns the grant of that digest.
func (t *tx) grant(d record.GrantDigest) (record.Grant, error) {
	g := record.Grant{Digest: d}
	if err := t.find(grants, d[:], &g); err != nil {
		return record.Grant{}, err
	}
	return g, nil
}

// putGrant writes a grant and its index row.
func (t *tx) putGrant(g record.Grant) error {
	if err := putRecord(t, grants, g.Digest[:], g); err != nil {
		return err
	}
	return t.put(grantPushes, grantRow(g), uint64Key(milliseconds(g.ExpiresAt)))
}

// issueGrant stores a new grant, and removes ended grants of its push.
func (t *tx) issueGrant(i record.NewGrant) error {
	stale, err := t.staleGrants(i)
	if err != nil {
		return err
	}
	for _, row := range stale {
		if err := t.dropGrant(row); err != nil {
			return err
		}
	}
	return t.putGrant(i.Grant)
}

// staleGrants returns the index rows of ended grants among the maxStale grants that follow the new
// one; after the last comes the first. Digests are random, so each new grant checks other rows, and
// finds every ended grant in time.
func (t *tx) staleGrants(i record.NewGrant) (rows [][]byte, err error) {
	c, own, looked := t.cursor(grantPushes), grantRow(i.Grant), 0
	for _, part := range [...]struct{ from, to []byte }{{own, after(i.Push[:])}, {i.Push[:], own}} {
		for k, v := c.Seek(part.from); looked < maxStale && k != nil && bytes.Compare(k, part.to) < 0; k, v = c.Next() {
			ends, err := number(grantPushes, v)
			if err != nil {
				return nil, err
			}
			if ends <= milliseconds(i.Ended) {
				row, err := cloneKey(grantPushes, k)
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
			looked++
		}
	}
	return rows, nil
}

// dropGrant removes the grant of an index row.
func (t *tx) dropGrant(row []byte) error {
	if err := t.delete(grants, row[idLen:]); err != nil {
		return err
	}
	return t.delete(grantPushes, row)
}
