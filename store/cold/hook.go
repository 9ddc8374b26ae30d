package cold

import (
	"context"
	"math"

	"pushbox/store/record"
)

// CreateHook is Add for a webhook, whose ID it returns.
func CreateHook(ctx context.Context, e record.TableEngine, h record.Hook, ev record.AdminEvent) (record.HookID, error) {
	h, err := Add(ctx, e, record.Hooks, h, &ev)
	return h.ID, err
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

// RemoveHook is Remove for a webhook.
func RemoveHook(ctx context.Context, e record.TableEngine, owner record.AccountID, id record.HookID, ev record.AdminEvent) error {
	return Remove(ctx, e, record.Hooks, owner, uint64(id), &ev)
}

// removeHooks removes the webhooks of an account.
func removeHooks(t record.Tx, owner record.AccountID) error {
	all, err := record.Hooks.Owned(t, owner, math.MaxInt)
	if err != nil {
		return err
	}
	return remove(t, record.Hooks.Table, all)
}
