package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"pushbox/store/record"
)

// tables are the buckets of tables.
var tables = map[*record.Table]bucket{
	record.Accounts.Table:    accounts,
	record.Sessions.Table:    sessions,
	record.Tokens.Table:      tokens,
	record.Hooks.Table:       hooks,
	record.AdminEvents.Table: events,
}

// indexes are the buckets of their indexes. A row of one is the key of a record's row.
var indexes = map[*record.Index]bucket{
	record.AccountsByEmail:    emails,
	record.AccountsByIdentity: identities,
	record.SessionsByOwner:    sessionOwners,
	record.TokensByID:         tokenIDs,
	record.TokensByOwner:      tokenOwners,
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
func (db *DB) Touch(ctx context.Context, of *record.Table, keys [][]byte, change func(record.Record) record.Record) error {
	return db.do(ctx, 0, func(t *tx) error {
		for _, k := range keys {
			if err := t.tables().touch(of, k, change); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t tableTx) touch(of *record.Table, key []byte, change func(record.Record) record.Record) error {
	r, err := t.Get(of, key)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	if next := change(r); next != nil {
		return t.Put(of, next)
	}
	return t.Delete(of, r)
}

// tables is t as operations over tables see it in a view.
func (t *tx) tables() tableTx { return tableTx{tx: t} }

// account returns an account, or record.ErrNotFound.
func (t *tx) account(id record.AccountID) (record.Account, error) {
	return record.Accounts.Get(t.tables(), uint64Key(uint64(id)))
}

// hookLen is the length of a webhook's key.
const hookLen = 8 + 8

// A tableTx is a tx as operations over tables see it.
type tableTx struct {
	tx     *tx
	limits *limits // nil in a view
}

// Get returns the record under a key, or record.ErrNotFound.
func (t tableTx) Get(of *record.Table, key []byte) (record.Record, error) {
	return t.tx.recordAt(of, tables[of], key)
}

// recordAt returns the record of a row of a table, or record.ErrNotFound.
func (t *tx) recordAt(of *record.Table, b bucket, key []byte) (record.Record, error) {
	v := t.get(b, key)
	if v == nil {
		return nil, record.ErrNotFound
	}
	return readRecord(of, b, key, v)
}

// readRecord decodes a row of a table. Its error names no content.
func readRecord(of *record.Table, b bucket, key, value []byte) (record.Record, error) {
	r, err := of.Read(key, value)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", record.ErrCorrupt, b, err)
	}
	return r, err
}

// Find returns the record to which an index leads, or record.ErrNotFound.
func (t tableTx) Find(of *record.Table, by *record.Index, key []byte) (record.Record, error) {
	row := t.tx.get(indexes[by], key)
	if row == nil {
		return nil, record.ErrNotFound
	}
	return t.Get(of, row)
}

// List returns the records of a range.
func (t tableTx) List(of *record.Table, r record.Range) (list []record.Record, err error) {
	b, first := tables[of], r.Prefix
	if r.By != nil {
		b = indexes[r.By]
	}
	if len(r.After) > 0 {
		first = append(bytes.Clone(r.After), 0)
	}
	c := t.tx.cursor(b)
	for k, v := c.Seek(first); bytes.HasPrefix(k, r.Prefix) && k != nil && len(list) < r.Limit; {
		var one record.Record
		if r.By != nil {
			one, err = t.Get(of, v)
		} else {
			one, err = readRecord(of, b, k, v)
		}
		if err != nil {
			return nil, err
		}
		if list = append(list, one); len(list) < r.Limit { // the next may be damaged
			k, v = c.Next()
		}
	}
	return list, nil
}

// Last returns the last number that the table gave out.
func (t tableTx) Last(of *record.Table) (uint64, error) {
	if of == record.AdminEvents.Table {
		h, err := t.tx.eventHead()
		return h.Last.Number, err
	}
	return t.tx.lastID(tables[of]), nil
}

// Put keeps a record, and has its indexes lead to it. It writes nothing that is as it was.
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
		if old, err = readRecord(of, b, key, stored); err != nil {
			return err
		}
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

// lead has the indexes lead to a record as it is now; nil stands for none.
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
				if err := t.tx.put(indexes[by], k, next.Key()); err != nil {
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

// Next gives out a number of the table.
func (t tableTx) Next(of *record.Table) (uint64, error) { return t.tx.nextID(tables[of]) }

// Tell appends an event to the instance log.
func (t tableTx) Tell(e record.AdminEvent) error { return t.tx.addEvent(e) }

// Send puts mail into the outbox, and counts it.
func (t tableTx) Send(m *record.MailBatch) error { return t.tx.putMail(m, *t.limits) }

// Disown removes the requests of an account, its quota, and its row of room.
func (t tableTx) Disown(id record.AccountID) error {
	owner := uint64Key(uint64(id))
	if t.tx.hasPrefix(owners, owner) {
		return record.ErrExists
	}
	if err := t.tx.removeEach(requestOwners, owner, t.tx.removeRequestRow); err != nil {
		return err
	}
	if err := t.tx.deletePrefix(quotas, owner); err != nil {
		return err
	}
	return t.tx.delete(room, accountRoom(id))
}
