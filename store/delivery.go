package store

import (
	"context"
	"errors"

	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// NoteDeliveries keeps tries to send messages to a webhook, if it still exists.
func (s *Store) NoteDeliveries(ctx context.Context, id record.HookID, tried []record.Delivery) error {
	h, ok := s.hooks.Load().find(id)
	if !ok || len(tried) == 0 {
		return nil
	}
	return s.keeping(ctx, func(ctx context.Context) error { return cold.NoteDeliveries(ctx, s.engine, h.Owner, id, tried) })
}

// AddOwnHook is AddHook for the account of a session. The password proves that the account
// is the caller's, and so does a second factor if it has one: a client that has only the
// session must not have its events for good.
//
// Errors: as those of CreateOwnToken and AddHook; ErrUnconfirmed.
func (s *Store) AddOwnHook(ctx context.Context, by Actor, session, password secret.Text, f Factor, address secret.Text, events []record.Event) (HookInfo, error) {
	var bad record.InvalidError
	if checkHook(address, events, &bad); bad.Err() != nil {
		return HookInfo{}, bad.Err()
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return HookInfo{}, err
	}
	if c.account.Unconfirmed {
		return HookInfo{}, record.ErrUnconfirmed
	}
	if checkHookCount(s.hooks.Load(), c.account.ID, &bad); bad.Err() != nil { // before the factor is used up
		return HookInfo{}, bad.Err()
	}
	if err := s.countChange(ctx, c.account.ID); err != nil {
		return HookInfo{}, err
	}
	_, err = s.changeOwn(ctx, c, record.AdminWebhookAdd, "", func(a *record.Account) (record.SessionChange, error) {
		return record.SessionChange{Untold: true}, use(a) // the webhook has the event
	})
	if err != nil {
		return HookInfo{}, err
	}
	return s.AddHook(ctx, c.by, c.account.Email, address, events)
}

// TestHook has send send a test to a webhook of the actor's account, and keeps the outcome. If
// the receiver takes it, a disabled webhook is enabled again. ErrNotFound; *LockedError after
// too many changes.
func (s *Store) TestHook(ctx context.Context, by Actor, id record.HookID, send func(context.Context, HookTarget) (status int, f record.Fault)) (record.Delivery, error) {
	h, err := s.Hook(id)
	if err == nil && (by.Account == 0 || h.Owner != by.Account) {
		err = record.ErrNotFound
	}
	if err != nil {
		return record.Delivery{}, err
	}
	if err := s.countChange(ctx, by.Account); err != nil {
		return record.Delivery{}, err
	}
	d := record.Delivery{At: s.time.Read().Now, Event: record.EventTest}
	d.Status, d.Fault = send(ctx, h.HookTarget)
	err = s.NoteDeliveries(ctx, id, []record.Delivery{d})
	if d.Delivered() && h.Disabled {
		err = errors.Join(err, s.DisableHook(ctx, by, id, false))
	}
	return d, err
}
