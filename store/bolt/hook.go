package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"pushbox/store"
)

// hookLen is the length of a webhook's key.
const hookLen = 8 + 8

func hookKey(owner store.AccountID, id store.HookID) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, hookLen), uint64(owner))
	return binary.BigEndian.AppendUint64(k, uint64(id))
}

// CreateHook keeps a new webhook under a new ID, which it returns.
func (db *DB) CreateHook(ctx context.Context, h store.Hook) (id store.HookID, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		if err := t.mayOwn(h.Owner); err != nil {
			return err
		}
		n, err := t.nextID(hooks)
		if err != nil {
			return err
		}
		id = store.HookID(n)
		h.ID = id
		return t.putHook(h)
	})
	return id, err
}

// Hooks lists webhooks by owner and ID, from the first after the one given.
func (db *DB) Hooks(ctx context.Context, owner store.AccountID, after store.HookID, limit int) (list []store.Hook, err error) {
	err = db.view(ctx, func(t *tx) error {
		c := t.cursor(hooks)
		list = nil // of a try before
		for k, v := c.Seek(append(hookKey(owner, after), 0)); k != nil && len(list) < limit; k, v = c.Next() {
			h, err := readHook(k, v)
			if err != nil {
				return err
			}
			list = append(list, h)
		}
		return nil
	})
	return list, err
}

// SetHook replaces the webhook of the same owner and ID; store.ErrNotFound if there
// is none.
func (db *DB) SetHook(ctx context.Context, h store.Hook) error {
	return db.do(ctx, 0, func(t *tx) error {
		if !t.has(hooks, hookKey(h.Owner, h.ID)) {
			return store.ErrNotFound
		}
		return t.putHook(h)
	})
}

// RemoveHook forgets a webhook; store.ErrNotFound if that account has none of that
// ID.
func (db *DB) RemoveHook(ctx context.Context, owner store.AccountID, id store.HookID) error {
	return db.do(ctx, 0, func(t *tx) error {
		key := hookKey(owner, id)
		if !t.has(hooks, key) {
			return store.ErrNotFound
		}
		return t.delete(hooks, key)
	})
}

func (t *tx) putHook(h store.Hook) error {
	record, err := encode(t, h)
	if err != nil {
		return err
	}
	return t.put(hooks, hookKey(h.Owner, h.ID), record)
}

// readHook reads a row.
func readHook(k, v []byte) (store.Hook, error) {
	if len(k) != hookLen {
		return store.Hook{}, fmt.Errorf("%w: %s: a key of %d bytes", store.ErrCorrupt, hooks, len(k))
	}
	h := store.Hook{Owner: store.AccountID(binary.BigEndian.Uint64(k)), ID: store.HookID(binary.BigEndian.Uint64(k[8:]))}
	return h, decode(&h, hooks, v)
}

// hooks looks for webhooks of no account.
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
