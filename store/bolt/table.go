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

// tables are the buckets of tables.
var tables = tablesWith(map[*record.Table]bucket{
	record.Accounts.Table:    accounts,
	record.Sessions.Table:    sessions,
	record.Tokens.Table:      tokens,
	record.Hooks.Table:       hooks,
	record.AdminEvents.Table: events,
	record.Requests.Table:    requests,
	record.Messages.Table:    outbox,
	record.Quotas.Table:      quotas,
})

// tablesWith adds the tables that were added.
func tablesWith(all map[*record.Table]bucket) map[*record.Table]bucket {
	addedBuckets(func(b bucket, of *record.Table) { all[of] = b })
	return all
}

// indexes are the buckets of their indexes. The value of an index row is the key of a record's row,
// or empty if the key of the index row ends with that.
var indexes = map[*record.Index]bucket{
	record.AccountsByEmail:    emails,
	record.AccountsByIdentity: identities,
	record.SessionsByOwner:    sessionOwners,
	record.TokensByID:         tokenIDs,
	record.TokensByOwner:      tokenOwners,
	record.RequestsByOwner:    requestOwners,
}

// View reads tables in one read transaction.
func (db *DB) View(ctx context.Context, read func(record.View) error) error {
	return db.view(ctx, func(t *tx) error { return read(t.tables()) })
}

// Update changes tables in one transaction, beside other operations.
func (db *DB) Update(ctx context.Context, change func(record.Tx) error) error {
	return db.do(ctx, 0, func(t *tx) error { return change(tableTx{t, db.limits.Load()}) })
}

// Touch changes records, or removes them, in one transaction.
func (db *DB) Touch(ctx context.Context, of *record.Table, keys [][]byte, change func(record.Record) (record.Record, error)) (int, error) {
	return changed(ctx, db, func(t *tx) (n int, err error) {
		for _, k := range keys {
			there, err := t.tables().touch(of, k, change)
			if err != nil {
				return 0, err
			}
			if there {
				n++
			}
		}
		return n, nil
	})
}

func (t tableTx) touch(of *record.Table, key []byte, change func(record.Record) (record.Record, error)) (there bool, err error) {
	r, err := t.Get(of, key)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	next, err := change(r)
	switch {
	case err != nil:
		return true, err
	case next != nil && bytes.Equal(next.Key(), key):
		return true, t.Put(of, next)
	}
	err = t.Delete(of, r)
	if err == nil && next != nil {
		err = t.Put(of, next)
	}
	return true, err
}

// recordWeight is the approximate size of a record without its value, with its indexes and its
// event, in bytes.
const recordWeight = 512

// under returns t as a record.Tx, within limits.
func (t *tx) under(l *limits) tableTx { return tableTx{t, l} }

// tables returns t as a record.View.
func (t *tx) tables() tableTx { return tableTx{tx: t} }

// A tableTx implements record.Tx over a tx.
type tableTx struct {
	tx     *tx
	limits *limits // nil in a view
}

// Get returns the record under a key, or record.ErrNotFound.
func (t tableTx) Get(of *record.Table, key []byte) (record.Record, error) {
	v := t.tx.get(tables[of], key)
	if v == nil {
		return nil, record.ErrNotFound
	}
	return readRecord(of, tables[of], key, v)
}

// All returns the existing records among the keys.
func (t tableTx) All(of *record.Table, keys [][]byte) (all []record.Record, err error) {
	for _, key := range keys {
		r, err := t.Get(of, key)
		if err == nil {
			all = append(all, r)
		} else if !errors.Is(err, record.ErrNotFound) {
			return nil, err
		}
	}
	return all, nil
}

// readRecord decodes a row of a table. Its error names no content.
func readRecord(of *record.Table, b bucket, key, value []byte) (record.Record, error) {
	r, err := of.Read(key, value)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", record.ErrCorrupt, b, err)
	}
	return r, err
}

// Find returns the record that an index has for a key, or record.ErrNotFound.
func (t tableTx) Find(of *record.Table, by *record.Index, key []byte) (record.Record, error) {
	row, ok := t.tx.row(indexes[by], key)
	if !ok {
		return nil, record.ErrNotFound
	}
	return t.follow(of, by, key, row)
}

// follow returns the record to which a row of an index leads.
func (t tableTx) follow(of *record.Table, by *record.Index, key, row []byte) (record.Record, error) {
	if by.Tail > 0 {
		row = key[max(0, len(key)-by.Tail):]
	}
	r, err := t.Get(of, row)
	if errors.Is(err, record.ErrNotFound) || err == nil && !contains(by.Keys(r), key) {
		err = fmt.Errorf("%w: %s: a row leads to no record with that key", record.ErrCorrupt, indexes[by])
	}
	return r, err
}

// List returns the records of a range.
func (t tableTx) List(of *record.Table, r record.Range) (list []record.Record, err error) {
	b := tables[of]
	if r.By != nil {
		b = indexes[r.By]
	}
	c := t.tx.cursor(b)
	k, v := c.begin(r)
	for skip := r.Skip; bytes.HasPrefix(k, r.Prefix) && k != nil && len(list) < r.Limit; {
		if skip--; skip < 0 {
			one, err := t.listed(of, r.By, k, v)
			if err != nil {
				return nil, err
			}
			if list = append(list, one); len(list) == r.Limit { // the next row may be damaged
				break
			}
		}
		if r.Reverse {
			k, v = c.Prev()
		} else {
			k, v = c.Next()
		}
	}
	return list, nil
}

func (t tableTx) listed(of *record.Table, by *record.Index, k, v []byte) (record.Record, error) {
	if by != nil {
		return t.follow(of, by, k, v)
	}
	return readRecord(of, tables[of], k, v)
}

// begin returns the first row of a range.
func (c cursor) begin(r record.Range) (k, v []byte) {
	if !r.Reverse {
		if len(r.After) > 0 {
			return c.Seek(append(bytes.Clone(r.After), 0))
		}
		return c.Seek(r.Prefix)
	}
	end := r.After
	if len(end) == 0 {
		end = after(r.Prefix)
	}
	if end != nil {
		if k, _ = c.Seek(end); k != nil {
			return c.Prev()
		}
	}
	return c.Last()
}

// Last returns the last number that the table assigned.
func (t tableTx) Last(of *record.Table) (uint64, error) {
	if of == record.AdminEvents.Table {
		h, err := t.tx.eventHead()
		return h.Last.Number, err
	}
	return t.tx.lastID(tables[of]), nil
}

// Put stores a record and its index rows, unless they are unchanged. It refuses a new record if the
// remaining space is reserved for operations that end pushes.
func (t tableTx) Put(of *record.Table, r record.Record) error {
	b, key := tables[of], r.Key()
	value, err := encode(t.tx, r)
	if err != nil {
		return err
	}
	stored := t.tx.get(b, key)
	if bytes.Equal(stored, value) && stored != nil {
		return nil
	}
	var old record.Record
	if stored != nil {
		old, err = readRecord(of, b, key, stored)
	} else if t.limits != nil {
		err = t.tx.reserveRest(recordWeight+len(value), *t.limits, durable.FreeSpace)
	}
	if err != nil {
		return err
	}
	if err := t.lead(of, old, r); err != nil {
		return err
	}
	return t.tx.put(b, key, value)
}

// Delete removes a record with its rows in indexes.
func (t tableTx) Delete(of *record.Table, r record.Record) error {
	if err := t.lead(of, r, nil); err != nil {
		return err
	}
	return t.tx.delete(tables[of], r.Key())
}

// lead changes the index rows from an old record to a new one; nil means none.
func (t tableTx) lead(of *record.Table, old, next record.Record) error {
	for _, by := range of.Indexes {
		var gone, come [][]byte
		if old != nil {
			gone = by.Keys(old)
		}
		if next != nil {
			come = by.Keys(next)
		}
		for _, k := range gone {
			if !contains(come, k) {
				if err := t.tx.delete(indexes[by], k); err != nil {
					return err
				}
			}
		}
		for _, k := range come {
			if !contains(gone, k) {
				row := next.Key()
				if by.Tail > 0 {
					row = nil
				}
				if err := t.tx.put(indexes[by], k, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func contains(keys [][]byte, key []byte) bool {
	return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) })
}

// Next assigns a number of the table.
func (t tableTx) Next(of *record.Table) (uint64, error) { return t.tx.nextID(tables[of]) }

// Tell appends an event to the instance log.
func (t tableTx) Tell(e record.AdminEvent) error { return t.tx.addEvent(e) }

// Reserve refuses n bytes if there is no space.
func (t tableTx) Reserve(bytes int) error { return t.tx.reserve(bytes, *t.limits, durable.FreeSpace) }

// Disown removes the quota of an account, and its row of room.
func (t tableTx) Disown(id record.AccountID) error {
	owner := uint64Key(uint64(id))
	if t.tx.hasPrefix(owners, owner) {
		return record.ErrExists
	}
	if err := t.tx.deletePrefix(quotas, owner); err != nil {
		return err
	}
	return t.tx.delete(room, accountRoom(id))
}
