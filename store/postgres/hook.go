package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

func (s sealer) listedHook(r pgx.CollectableRow) (h record.Hook, err error) {
	var owner, id int64
	var stored []byte
	if err := r.Scan(&owner, &id, &stored); err != nil {
		return h, err
	}
	h.Owner, h.ID = record.AccountID(owner), record.HookID(id)
	return h, s.read(tableHook, hookKey(h), stored, &h)
}

func hookKey(h record.Hook) []byte { return pairKey(uint64(h.Owner), uint64(h.ID)) }

// CreateHook keeps a new webhook under a new ID, which it returns.
func (db *DB) CreateHook(ctx context.Context, h record.Hook, e record.AdminEvent) (id record.HookID, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	err = db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		if h.Owner != 0 {
			owner, _, err := a.account(ctx, c, h.Owner)
			if errors.Is(err, record.ErrNotFound) || err == nil && !owner.Active() {
				err = decide(record.ErrToken)
			}
			if err != nil {
				return err
			}
		}
		a.head.hook++
		h.ID, e.Subject = record.HookID(a.head.hook), a.head.hook
		id = h.ID
		stored, err := a.seal(tableHook, hookKey(h), h)
		if err != nil {
			return decide(err)
		}
		a.insert(tableHook, [][2]string{{"owner", "bigint"}, {"id", "bigint"}, {"value", "bytea"}}, int64(h.Owner), int64(h.ID), stored)
		return a.tell(e)
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// Hooks lists webhooks by owner and ID, from the first after the one given.
func (db *DB) Hooks(ctx context.Context, owner record.AccountID, after record.HookID, limit int) ([]record.Hook, error) {
	of, ok := column(owner)
	first, okToo := column(after)
	if !ok || !okToo {
		limit = 0
	}
	return listed(ctx, db, sealer.listedHook, "select owner, id, value from hook where (owner, id) > ($1, $2) order by owner, id limit $3", of, first, limit)
}

// SetHook replaces the webhook of the same owner and ID; record.ErrNotFound if there is
// none.
func (db *DB) SetHook(ctx context.Context, h record.Hook, e record.AdminEvent) error {
	return db.changeHook(ctx, h.Owner, h.ID, e, func(a *change) error {
		stored, err := a.seal(tableHook, hookKey(h), h)
		if err != nil {
			return decide(err)
		}
		a.write("update hook set value = $4::bytea where owner = $2::bigint and id = $3::bigint", int64(h.Owner), int64(h.ID), stored)
		return nil
	})
}

// NoteDeliveries adds tries to a webhook, if it still exists.
func (db *DB) NoteDeliveries(ctx context.Context, owner record.AccountID, id record.HookID, tried []record.Delivery) error {
	return db.touch(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) (before, after []byte, err error) {
		h := record.Hook{Owner: owner, ID: id}
		if err := c.QueryRow(ctx, "select value from hook where owner = $1 and id = $2", int64(owner), int64(id)).Scan(&before); err != nil {
			return nil, nil, err
		}
		if err := s.read(tableHook, hookKey(h), before, &h); err != nil {
			return nil, nil, err
		}
		after, err = s.seal(tableHook, hookKey(h), h.With(tried))
		return before, after, err
	}, "update hook set value = $3::bytea where owner = $1::bigint and id = $5::bigint and value = $2::bytea and (select floor from ring) <= $4::bigint", int64(owner), int64(id))
}

// RemoveHook removes a webhook; record.ErrNotFound if that account has no webhook of that
// ID.
func (db *DB) RemoveHook(ctx context.Context, owner record.AccountID, id record.HookID, e record.AdminEvent) error {
	return db.changeHook(ctx, owner, id, e, func(a *change) error {
		a.write("delete from hook where owner = $2::bigint and id = $3::bigint", int64(owner), int64(id))
		return nil
	})
}

func (db *DB) changeHook(ctx context.Context, owner record.AccountID, id record.HookID, e record.AdminEvent, write func(*change) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		var there bool
		if err := c.QueryRow(ctx, "select exists (select from hook where owner = $1 and id = $2)", int64(owner), int64(id)).Scan(&there); err != nil {
			return err
		}
		if !there {
			return decide(record.ErrNotFound)
		}
		if err := write(a); err != nil {
			return err
		}
		return a.tell(e)
	})
}
