package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"pushbox/store/record"
)

// Pushes lists an owner's live pushes, or the others, newest first.
func (db *DB) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	return viewed(ctx, db, func(t *tx) ([]record.Push, error) { return t.pushesOf(ownerPrefix(owner, live), before, skip, limit) })
}

func (t *tx) pushesOf(prefix []byte, before record.ID, skip, limit int) (list []record.Push, err error) {
	end := after(prefix)
	if before != (record.ID{}) {
		end = append(bytes.Clone(prefix), before[:]...)
	}
	for k, err := range t.indexedFrom(owners, prefix, end) {
		if err != nil || len(list) >= limit {
			return list, err
		}
		if skip > 0 {
			skip--
			continue
		}
		p, err := t.push(lastID(k))
		if errors.Is(err, record.ErrNotFound) || err == nil && !bytes.Equal(ownerRow(p), k) {
			err = fmt.Errorf("%w: %s: a row leads to a push of another account", record.ErrCorrupt, owners)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// CountPushes counts the rows of an owner's list, up to most.
func (db *DB) CountPushes(ctx context.Context, owner record.AccountID, live bool, most int) (int, error) {
	return viewed(ctx, db, func(t *tx) (n int, err error) {
		for _, err := range t.indexed(owners, ownerPrefix(owner, live)) {
			if err != nil || n >= most {
				return n, err
			}
			n++
		}
		return n, nil
	})
}

// Entries lists a push's audit entries, oldest first.
func (db *DB) Entries(ctx context.Context, id record.ID, skip, limit int) ([]record.Entry, error) {
	return viewed(ctx, db, func(t *tx) ([]record.Entry, error) { return t.entries(id, skip, limit) })
}

// entries skips by number: the numbers of a push's entries have no gaps. The push has their number,
// so that a removed entry is noticed.
func (t *tx) entries(id record.ID, skip, limit int) (list []record.Entry, err error) {
	p, err := t.push(id)
	if errors.Is(err, record.ErrNotFound) || err == nil && int64(skip) >= int64(p.Seq) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	from := uint32(max(skip, 0))
	c := t.cursor(audit)
	for k, v := c.Seek(auditKey(id, from)); bytes.HasPrefix(k, id[:]) && len(list) < limit; k, v = c.Next() {
		if !bytes.Equal(k, auditKey(id, from+uint32(len(list)))) {
			break
		}
		var e record.Entry
		if err := decode(&e, audit, v); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	err = t.pendingEntries(id, from+uint32(len(list)), func(e record.Entry) bool {
		if len(list) < limit {
			list = append(list, e)
		}
		return len(list) < limit
	})
	if err == nil && len(list) < min(limit, int(p.Seq-from)) {
		err = fmt.Errorf("%w: %s: entry %d of push %s is missing", record.ErrCorrupt, audit, from+uint32(len(list)), id)
	}
	return list, err
}

// pendingEntries calls fn with the audit entries of a push that only the journal has,
// from a number on, until fn returns false.
func (t *tx) pendingEntries(id record.ID, from uint32, fn func(record.Entry) bool) error {
	if !t.has(pushes, id[:]) {
		return nil // the push was purged
	}
	found, n, err := t.overlay.of(id)
	if err != nil {
		return err
	}
	for _, p := range found[:n] {
		for _, row := range p.rows {
			r, ok, err := t.journalRow(row)
			if err != nil {
				return err
			}
			if !ok || len(r.entry) == 0 || r.number() < from {
				continue // it is in the audit log, too, or has none
			}
			var e record.Entry
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

// Due lists pushes of an expiry queue whose time is not after until, earliest first,
// and returns the time of the next one.
func (db *DB) Due(ctx context.Context, s record.ExpiryQueue, behind record.ExpiryPlace, until time.Time, limit int) (due []record.ID, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		due, next, err = t.due(s, behind, milliseconds(until), limit)
		return err
	})
	return due, next, err
}

func (t *tx) due(s record.ExpiryQueue, behind record.ExpiryPlace, until uint64, limit int) (due []record.ID, next time.Time, err error) {
	from := append(expiryKey(s, behind), 0)
	for k, err := range t.indexedFrom(expiry, from[:1], from) {
		if err != nil {
			return nil, time.Time{}, err
		}
		if len(due) >= limit || binary.BigEndian.Uint64(k[1:]) > until {
			return due, expiryTime(k), nil
		}
		due = append(due, lastID(k))
	}
	return due, time.Time{}, nil
}

// Scan lists pushes by ID, from the first after the one given.
func (db *DB) Scan(ctx context.Context, after record.ID, limit int) ([]record.Push, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Push, err error) {
		c := t.cursor(pushes)
		for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
			p, err := t.decodePush(record.ID(k), v)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	})
}

const (
	searchStep  = 1 << 20
	searchReach = 64 << 10 // the longest sealed key ring
)
