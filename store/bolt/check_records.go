package bolt

import (
	"bytes"
	"errors"
	"time"

	"pushbox/store/record"
)

// orphans reports rows whose push does not exist.
func (c *checker) orphans() error {
	for _, o := range []struct {
		bucket bucket
		keyLen int
		idAt   int
	}{
		{payloads, payloadLen, 0},
		{audit, auditLen, 0},
		{owners, ownerLen, ownerLen - idLen},
		{expiry, expiryLen, expiryLen - idLen},
	} {
		err := c.each(o.bucket, func(k, _ []byte) error {
			if len(k) != o.keyLen && (o.bucket != payloads || len(k) != idLen) {
				c.notef("%s: a key of %d bytes instead of %d", o.bucket, len(k), o.keyLen)
				return nil
			}
			if id := record.ID(k[o.idAt : o.idAt+idLen]); !c.has(pushes, id[:]) {
				c.notef("%s: a row of push %s, which does not exist", o.bucket, id)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// records reports malformed records of tables, records without their account or without an index
// row, and index rows without their record. Another check follows the chain of events.
func (c *checker) records() error {
	for _, of := range record.Tables() {
		if of == record.AdminEvents.Table {
			continue
		}
		if err := c.table(of, tables[of]); err != nil {
			return err
		}
		for _, by := range of.Indexes {
			err := c.each(indexes[by], func(k, v []byte) error {
				if _, err := c.tables().follow(of, by, k, v); errors.Is(err, record.ErrCorrupt) {
					c.notef("%s: a row leads to no record with that key", indexes[by])
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return c.each(owners, func(k, _ []byte) error {
		if len(k) == ownerLen && !c.has(accounts, k[:8]) {
			c.notef("push %s: its owner does not exist", lastID(k))
		}
		return nil
	})
}

func (c *checker) table(of *record.Table, b bucket) error {
	return c.each(b, func(k, v []byte) error {
		r, err := readRecord(of, b, k, v)
		if err != nil {
			c.notef("%s: a record is malformed, or has the key of another record", b)
			return nil
		}
		if owner := r.Belongs(); owner != 0 && !c.has(accounts, uint64Key(uint64(owner))) {
			c.notef("%s: account %d, its owner, does not exist", r.Title(), owner)
		}
		if m, ok := r.(record.Message); ok && m.Number > c.lastID(outbox) {
			c.notef("message %d: only %d numbers were assigned", m.Number, c.lastID(outbox))
		}
		for _, by := range of.Indexes {
			for _, key := range by.Keys(r) {
				if found, err := c.tables().Find(of, by, key); err != nil || !bytes.Equal(found.Key(), k) {
					c.notef("%s: its %s does not lead to it", r.Title(), by.Name)
				}
			}
		}
		return nil
	})
}

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

// chunks reports chunks without a push or an orphan row, and orphan rows of a push.
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
			c.notef("push %s: a grant for its files is missing from the list of its grants, or has another time there", g.Push)
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
		c.notef("push %s: an index row names a grant that does not exist", id)
	case err == nil && g.Push != id:
		c.notef("push %s: a row of its grants leads to a grant of another push", id)
	case !c.has(pushes, id[:]):
		c.notef("push %s does not exist, but has a grant", id)
	}
	return nil
}
