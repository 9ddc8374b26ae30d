package bolt

import (
	"bytes"
	"context"

	"pushbox/store"
)

// maxStale is how many grants of a push are looked at for ones that have ended
// when a new one comes: enough that they never pile up.
const maxStale = 16

// Grant returns the grant of that digest and its push.
func (db *DB) Grant(ctx context.Context, d store.GrantDigest) (g store.Grant, p store.Push, err error) {
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
func (db *DB) ChangeGrant(ctx context.Context, d store.GrantDigest, r store.GrantRule) (next store.Grant, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		g, err := t.grant(d)
		if err != nil {
			return err
		}
		p, err := t.push(g.Push)
		if err != nil {
			return err
		}
		var changed store.Push
		var keep bool
		if err := recovered(func() { changed, next, keep = r(p, g) }); err != nil {
			return err
		}
		if !keep {
			return t.dropGrant(grantRow(g))
		}
		if next.ExpiresAt.Equal(g.ExpiresAt) {
			return nil
		}
		if err := t.putGrant(next); err != nil {
			return err
		}
		return t.update(p, store.Change{Push: changed})
	})
	return next, err
}

// grant returns the grant of that digest.
func (t *tx) grant(d store.GrantDigest) (store.Grant, error) {
	v := t.get(grants, d[:])
	if v == nil {
		return store.Grant{}, store.ErrNotFound
	}
	g := store.Grant{Digest: d}
	return g, decode(&g, grants, v)
}

// putGrant keeps a grant and its row.
func (t *tx) putGrant(g store.Grant) error {
	record, err := encode(t, g)
	if err != nil {
		return err
	}
	if err := t.put(grants, g.Digest[:], record); err != nil {
		return err
	}
	return t.put(grantPushes, grantRow(g), uint64Key(milliseconds(g.ExpiresAt)))
}

// issueGrant keeps a new grant, and forgets others of its push that have ended.
func (t *tx) issueGrant(i store.Issue) error {
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

// staleGrants finds rows of a push's grants that have ended, among the maxStale
// that follow the new one's, and the first follow the last. Digests have no order,
// so each look is at others: what has ended cannot stay behind what has not.
func (t *tx) staleGrants(i store.Issue) (rows [][]byte, err error) {
	c, own, looked := t.cursor(grantPushes), grantRow(i.Grant), 0
	for _, part := range [...]struct{ from, to []byte }{{own, after(i.Push[:])}, {i.Push[:], own}} {
		for k, v := c.Seek(part.from); looked < maxStale && k != nil && bytes.Compare(k, part.to) < 0; k, v = c.Next() {
			ends, err := number(grantPushes, v)
			if err != nil {
				return nil, err
			}
			if ends <= milliseconds(i.Ended) {
				row, err := keepKey(grantPushes, k)
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

// dropGrant forgets the grant of that row.
func (t *tx) dropGrant(row []byte) error {
	if err := t.delete(grants, row[idLen:]); err != nil {
		return err
	}
	return t.delete(grantPushes, row)
}
