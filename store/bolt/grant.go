package bolt

import (
	"bytes"
	"context"

	"pushbox/store/record"
)

// maxStale is how many grants of a push a new one looks at, to remove those that have
// ended: enough that they never pile up.
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

// issueGrant keeps a new grant, and removes ended grants of its push.
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

// staleGrants returns the index rows of ended grants among the maxStale grants that
// follow the new one; after the last comes the first. Digests have no order, so each
// new grant looks at other rows, and an ended grant cannot stay behind a live one.
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
