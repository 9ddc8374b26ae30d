package cold

import (
	"context"
	"math"

	"pushbox/store/record"
)

// CreateHook keeps a new webhook under a new ID, which it returns. ErrToken if its owner is
// not an account that may act.
func CreateHook(ctx context.Context, e record.TableEngine, h record.Hook, ev record.AdminEvent) (record.HookID, error) {
	return update(ctx, e, func(t record.Tx) (record.HookID, error) {
		if err := t.Reserve(recordWeight + len(h.Sealed)); err != nil {
			return 0, err
		}
		if err := record.MayOwn(t, h.Owner); err != nil {
			return 0, err
		}
		id, err := addHook(t, h)
		if err != nil {
			return 0, err
		}
		ev.Subject = uint64(id)
		return id, t.Tell(ev)
	})
}

func addHook(t record.Tx, h record.Hook) (record.HookID, error) {
	n, err := t.Next(record.Hooks.Table)
	if err != nil {
		return 0, err
	}
	h.ID = record.HookID(n)
	return h.ID, t.Put(record.Hooks.Table, h)
}

// Hooks lists webhooks by owner and ID, from the first after the given pair.
func Hooks(ctx context.Context, e record.TableEngine, owner record.AccountID, after record.HookID, limit int) ([]record.Hook, error) {
	return read(ctx, e, func(v record.View) ([]record.Hook, error) {
		return record.Hooks.List(v, record.Range{After: record.PairKey(uint64(owner), uint64(after)), Limit: limit})
	})
}

// SetHook replaces the webhook with the same owner and ID, or returns ErrNotFound.
func SetHook(ctx context.Context, e record.TableEngine, h record.Hook, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error {
		if _, err := record.Hooks.Get(t, h.Key()); err != nil {
			return err
		}
		if err := t.Put(record.Hooks.Table, h); err != nil {
			return err
		}
		return t.Tell(ev)
	})
}

// NoteDeliveries changes a webhook as Hook.With does, if it still exists.
func NoteDeliveries(ctx context.Context, e record.TableEngine, owner record.AccountID, id record.HookID, tried []record.Delivery) error {
	return touch(ctx, e, record.Hooks, record.PairKey(uint64(owner), uint64(id)), func(h *record.Hook) { *h = h.With(tried) })
}

// RemoveHook returns ErrNotFound if that account has no such webhook.
func RemoveHook(ctx context.Context, e record.TableEngine, owner record.AccountID, id record.HookID, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error {
		h, err := record.Hooks.Get(t, record.PairKey(uint64(owner), uint64(id)))
		if err != nil {
			return err
		}
		if err := t.Delete(record.Hooks.Table, h); err != nil {
			return err
		}
		return t.Tell(ev)
	})
}

// removeHooks removes the webhooks of an account.
func removeHooks(t record.Tx, owner record.AccountID) error {
	all, err := record.Hooks.Owned(t, owner, math.MaxInt)
	if err != nil {
		return err
	}
	return remove(t, record.Hooks.Table, all)
}
