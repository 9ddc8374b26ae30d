package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"time"

	"pushbox/store"
)

// Pushes lists an owner's pushes, live ones or the others, newest first.
func (db *DB) Pushes(ctx context.Context, owner store.AccountID, live bool, skip, limit int) (list []store.Push, err error) {
	err = db.view(ctx, func(t *tx) error {
		list, err = t.pushesOf(ownerPrefix(owner, live), skip, limit)
		return err
	})
	return list, err
}

func (t *tx) pushesOf(prefix []byte, skip, limit int) (list []store.Push, err error) {
	c := t.cursor(owners)
	var k []byte
	if end := after(prefix); end == nil {
		k, _ = c.Last()
	} else if k, _ = c.Seek(end); k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	for ; bytes.HasPrefix(k, prefix) && len(list) < limit; k, _ = c.Prev() {
		if skip > 0 {
			skip--
			continue
		}
		p, err := t.push(lastID(k))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Entries lists a push's audit entries, oldest first.
func (db *DB) Entries(ctx context.Context, id store.ID, skip, limit int) (list []store.Entry, err error) {
	err = db.view(ctx, func(t *tx) error {
		list, err = t.entries(id, skip, limit)
		return err
	})
	return list, err
}

// entries goes by the entries' numbers, which have no gaps, so skipping is a
// matter of looking up.
func (t *tx) entries(id store.ID, skip, limit int) (list []store.Entry, err error) {
	if int64(skip) > math.MaxUint32 {
		return nil, nil
	}
	from := uint32(max(skip, 0))
	c := t.cursor(audit)
	for k, v := c.Seek(auditKey(id, from)); bytes.HasPrefix(k, id[:]) && len(list) < limit; k, v = c.Next() {
		var e store.Entry
		if err := decode(&e, audit, v); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	err = t.pendingEntries(id, from+uint32(len(list)), func(e store.Entry) bool {
		if len(list) < limit {
			list = append(list, e)
		}
		return len(list) < limit
	})
	return list, err
}

// pendingEntries calls fn with the audit entries of a push that are in the journal
// alone, from a number on, until it returns false.
func (t *tx) pendingEntries(id store.ID, from uint32, fn func(store.Entry) bool) error {
	if !t.has(pushes, id[:]) {
		return nil // it was purged
	}
	found, n, err := t.over.of(id)
	if err != nil {
		return err
	}
	for _, p := range found[:n] {
		for _, row := range p.rows {
			r, ok, err := t.journalRow(row)
			if err != nil {
				return err
			}
			if !ok || r.number() < from {
				continue // it is in the audit log, too
			}
			var e store.Entry
			if err := decode(&e, journalRows, r.entry); err != nil {
				return err
			}
			if !fn(e) {
				return nil
			}
		}
	}
	return nil
}

// Due lists pushes of a shelf whose time is not after until, earliest first,
// and tells the time of the one that comes next.
func (db *DB) Due(ctx context.Context, s store.Shelf, until time.Time, limit int) (due []store.ID, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) error {
		due, next = t.due(s, milliseconds(until), limit)
		return nil
	})
	return due, next, err
}

func (t *tx) due(s store.Shelf, until uint64, limit int) (due []store.ID, next time.Time) {
	c := t.cursor(expiry)
	shelf := []byte{byte(s)}
	for k, _ := c.Seek(shelf); bytes.HasPrefix(k, shelf); k, _ = c.Next() {
		if len(due) >= limit || binary.BigEndian.Uint64(k[1:]) > until {
			return due, expiryTime(k)
		}
		due = append(due, lastID(k))
	}
	return due, time.Time{}
}

// Scan lists pushes by ID, from the first after the one given.
func (db *DB) Scan(ctx context.Context, after store.ID, limit int) (list []store.Push, err error) {
	err = db.view(ctx, func(t *tx) error {
		c := t.cursor(pushes)
		list = nil // of a try before
		for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
			p, err := t.decodePush(store.ID(k), v)
			if err != nil {
				return err
			}
			list = append(list, p)
		}
		return nil
	})
	return list, err
}
