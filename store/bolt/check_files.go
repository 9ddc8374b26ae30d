package bolt

import (
	"bytes"
	"errors"
	"time"

	"pushbox/store/record"
)

// tallyFiles counts the chunks and the grants of a push. Chunks that are orphans do not
// count.
func (c *checker) tallyFiles(id record.ID, t *record.Tally) error {
	cur, orphaned := c.cursor(chunks), c.has(orphans, id[:])
	for k, v := cur.Seek(id[:]); !orphaned && bytes.HasPrefix(k, id[:]); k, v = cur.Next() {
		c.noteRead(len(v))
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if len(k) != padLen {
			t.Stored += int64(len(v))
		}
	}
	cur = c.cursor(grantPushes)
	for k, v := cur.Seek(id[:]); bytes.HasPrefix(k, id[:]); k, v = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		ends, err := number(grantPushes, v)
		if err != nil {
			c.notef("push %s: a row of its grants does not hold a time", id)
			continue
		}
		if at := time.UnixMilli(int64(ends)).UTC(); at.After(t.GrantsEnd) {
			t.GrantsEnd = at
		}
	}
	return nil
}

// chunks reports chunks that belong to nothing, and orphans that belong to a push.
func (c *checker) chunks() error {
	err := c.each(chunks, func(k, v []byte) error {
		if len(k) == padLen && isPad(k, v) {
			return nil
		}
		if len(k) != chunkLen {
			c.notef("%s: a key of %d bytes instead of %d", chunks, len(k), chunkLen)
			return nil
		}
		if id := record.ID(k[:idLen]); !c.has(orphans, id[:]) && !c.has(pushes, id[:]) {
			c.notef("%s: a row of push %s, which does not exist", chunks, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(orphans, func(k, _ []byte) error {
		if len(k) != idLen {
			c.notef("%s: a key of %d bytes instead of %d", orphans, len(k), idLen)
			return nil
		}
		if p, err := c.push(record.ID(k)); err == nil && p.HoldsFiles() {
			c.notef("push %s: its files are listed as orphans", p.ID)
		}
		return nil
	})
}

// grants reports grants without their index row, and index rows without their grant.
func (c *checker) grants() error {
	err := c.each(grants, func(k, v []byte) error {
		g := record.Grant{}
		if len(k) != digestLen || decode(&g, grants, v) != nil {
			c.notef("%s: a record is malformed", grants)
			return nil
		}
		g.Digest = record.GrantDigest(k)
		if !bytes.Equal(c.get(grantPushes, grantRow(g)), uint64Key(milliseconds(g.ExpiresAt))) {
			c.notef("push %s: a grant for its files is not among its grants, or under another time", g.Push)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(grantPushes, c.grantRow)
}

// grantRow checks an index row of a push's grants.
func (c *checker) grantRow(k, _ []byte) error {
	if len(k) != idLen+digestLen {
		c.notef("%s: a key of %d bytes instead of %d", grantPushes, len(k), idLen+digestLen)
		return nil
	}
	id := record.ID(k[:idLen])
	g, err := c.grant(record.GrantDigest(k[idLen:]))
	switch {
	case errors.Is(err, record.ErrNotFound):
		c.notef("push %s: a row of its grants has no grant", id)
	case err == nil && g.Push != id:
		c.notef("push %s: a row of its grants leads to a grant for another push", id)
	case !c.has(pushes, id[:]):
		c.notef("push %s does not exist, and has a grant", id)
	}
	return nil
}
