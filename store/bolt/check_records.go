package bolt

import (
	"bytes"
	"errors"

	"pushbox/store/record"
)

// orphans reports rows of no push.
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

// records reports records of tables that are malformed, belong to no account, or that an index
// does not lead to, and rows of indexes that lead to nothing. The chain of events is walked apart.
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
					c.notef("%s: a row leads to nothing that has it", indexes[by])
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
			c.notef("%s: a record is malformed, or has the key of another", b)
			return nil
		}
		if owner := r.Belongs(); owner != 0 && !c.has(accounts, uint64Key(uint64(owner))) {
			c.notef("%s: account %d, its owner, does not exist", r.Title(), owner)
		}
		if m, ok := r.(record.Message); ok && m.Number > c.lastID(outbox) {
			c.notef("message %d: only %d numbers were given out", m.Number, c.lastID(outbox))
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
