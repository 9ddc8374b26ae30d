package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"pushbox/store/record"
)

// hookLen is the length of a webhook's key.
const hookLen = 8 + 8

func hookKey(owner record.AccountID, id record.HookID) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, hookLen), uint64(owner))
	return binary.BigEndian.AppendUint64(k, uint64(id))
}

// CreateHook keeps a new webhook under a new ID, which it returns.
func (db *DB) CreateHook(ctx context.Context, h record.Hook, e record.AdminEvent) (record.HookID, error) {
	return changed(ctx, db, func(t *tx) (record.HookID, error) {
		if err := t.mayOwn(h.Owner); err != nil {
			return 0, err
		}
		n, err := t.nextID(hooks)
		if err != nil {
			return 0, err
		}
		h.ID, e.Subject = record.HookID(n), n
		if err := t.putHook(h); err != nil {
			return 0, err
		}
		return h.ID, t.addEvent(e)
	})
}

// Hooks lists webhooks by owner and ID, from the first after the one given.
func (db *DB) Hooks(ctx context.Context, owner record.AccountID, after record.HookID, limit int) ([]record.Hook, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Hook, err error) {
		c := t.cursor(hooks)
		for k, v := c.Seek(append(hookKey(owner, after), 0)); k != nil && len(list) < limit; k, v = c.Next() {
			h, err := readHook(k, v)
			if err != nil {
				return nil, err
			}
			list = append(list, h)
		}
		return list, nil
	})
}

// SetHook replaces the webhook of the same owner and ID; record.ErrNotFound if there
// is none.
func (db *DB) SetHook(ctx context.Context, h record.Hook, e record.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error {
		if !t.has(hooks, hookKey(h.Owner, h.ID)) {
			return record.ErrNotFound
		}
		if err := t.putHook(h); err != nil {
			return err
		}
		return t.addEvent(e)
	})
}

// NoteDeliveries adds tries to a webhook, if it still exists.
func (db *DB) NoteDeliveries(ctx context.Context, owner record.AccountID, id record.HookID, tried []record.Delivery) error {
	return db.do(ctx, 0, func(t *tx) error {
		key := hookKey(owner, id)
		stored := t.get(hooks, key)
		if stored == nil {
			return nil
		}
		h, err := readHook(key, stored)
		if err != nil {
			return err
		}
		return t.putHook(h.With(tried))
	})
}

// RemoveHook removes a webhook; record.ErrNotFound if that account has no webhook of
// that ID.
func (db *DB) RemoveHook(ctx context.Context, owner record.AccountID, id record.HookID, e record.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error {
		key := hookKey(owner, id)
		if !t.has(hooks, key) {
			return record.ErrNotFound
		}
		if err := t.delete(hooks, key); err != nil {
			return err
		}
		return t.addEvent(e)
	})
}

func (t *tx) putHook(h record.Hook) error { return putRecord(t, hooks, hookKey(h.Owner, h.ID), h) }

// readHook decodes a row.
func readHook(k, v []byte) (record.Hook, error) {
	if len(k) != hookLen {
		return record.Hook{}, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, hooks, len(k))
	}
	h := record.Hook{Owner: record.AccountID(binary.BigEndian.Uint64(k)), ID: record.HookID(binary.BigEndian.Uint64(k[8:]))}
	err := decode(&h, hooks, v)
	return h, err
}

// hooks reports webhooks of no account.
func (c *checker) hooks() error {
	return c.each(hooks, func(k, v []byte) error {
		h, err := readHook(k, v)
		switch {
		case len(k) != hookLen:
			c.notef("hooks: a key of %d bytes instead of %d", len(k), hookLen)
		case err != nil:
			c.notef("hooks: a record is malformed")
		case !c.has(accounts, bytes.Clone(k[:8])):
			c.notef("webhook %d: account %d, its owner, does not exist", h.ID, h.Owner)
		}
		return nil
	})
}
