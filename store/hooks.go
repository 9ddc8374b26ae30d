package store

import (
	"context"
	"fmt"

	"pushbox/internal/secret"
)

// A hookBook is every webhook, and to whom events are told. It never changes.
type hookBook struct {
	all      []Hook
	active   map[AccountID][]Hook // those that are told, by owner
	instance EventSet             // what the instance's own webhook is told
}

// quiet reports whether nobody is told of anything.
func (b *hookBook) quiet() bool { return b == nil || b.instance == 0 && len(b.active) == 0 }

// asking lists the webhooks that ask for an event of an owner's push.
func (b *hookBook) asking(owner AccountID, e Event) (ids []HookID) {
	if b.instance.Has(e) {
		ids = append(ids, 0)
	}
	if owner == 0 {
		return ids
	}
	for _, h := range b.active[owner] {
		if h.Events.Has(e) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// find returns the webhook of that ID.
func (b *hookBook) find(id HookID) (Hook, bool) {
	for _, h := range b.all {
		if h.ID == id {
			return h, true
		}
	}
	return Hook{}, false
}

// loadHooks reads all webhooks. Those of an account that may not act are told
// nothing. The caller holds hooking, or is alone.
func (s *Store) loadHooks(ctx context.Context) error {
	b := &hookBook{instance: s.options().Hooks.Instance, active: make(map[AccountID][]Hook)}
	var err error
	b.all, err = all(func(last *Hook) ([]Hook, error) {
		if last == nil {
			return s.engine.Hooks(ctx, 0, 0, listBatch)
		}
		return s.engine.Hooks(ctx, last.Owner, last.ID, listBatch)
	})
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	owners := make(map[AccountID]bool)
	for _, h := range b.all {
		if _, known := owners[h.Owner]; !known {
			a, err := s.engine.Account(ctx, h.Owner)
			if instead(err, ErrNotFound, nil) != nil {
				return fmt.Errorf("webhooks: %w", err)
			}
			owners[h.Owner] = err == nil && a.Active()
		}
		if owners[h.Owner] && !h.Disabled {
			b.active[h.Owner] = append(b.active[h.Owner], h)
		}
	}
	s.hooks.Store(b)
	return nil
}

// changeHooks changes webhooks, or what they depend on, and has that hold for
// every event after it.
func (s *Store) changeHooks(ctx context.Context, change func(*hookBook) error) error {
	s.hooking.Lock()
	defer s.hooking.Unlock()
	if err := change(s.hooks.Load()); err != nil {
		return err
	}
	return s.loadHooks(context.WithoutCancel(ctx)) // it is done, whoever still waits
}

// AddHook has the events of an account's pushes sent to an address, and returns the
// webhook with its signing secret. *InvalidError, ErrNotFound, or ErrToken if the
// account may not act.
func (s *Store) AddHook(ctx context.Context, email string, address secret.Text, events []Event) (HookInfo, error) {
	var bad InvalidError
	checkHook(address, events, &bad)
	a, err := s.account(ctx, email)
	if err != nil {
		return HookInfo{}, err
	}
	h := Hook{Owner: a.ID, CreatedAt: s.time.read().now, Events: NewEventSet(events...)}
	target := HookTarget{URL: address, Secret: newHookSecret()}
	s.sealHook(&h, target)
	err = s.changeHooks(ctx, func(b *hookBook) (err error) {
		if n := len(b.of(a.ID)); n >= MaxHooks {
			bad.Add("webhooks", fmt.Sprintf("are too many: the account has %d, the most that there can be", n))
		}
		if err := bad.Err(); err != nil {
			return err
		}
		h.ID, err = s.engine.CreateHook(ctx, h)
		return err
	})
	return HookInfo{Hook: h, HookTarget: target}, err
}

// of lists an account's webhooks, oldest first.
func (b *hookBook) of(owner AccountID) (list []Hook) {
	for _, h := range b.all {
		if h.Owner == owner {
			list = append(list, h)
		}
	}
	return list
}

// Hooks lists an account's webhooks, oldest first. ErrNotFound.
func (s *Store) Hooks(ctx context.Context, email string) ([]HookInfo, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return nil, err
	}
	var list []HookInfo
	for _, h := range s.hooks.Load().of(a.ID) {
		info, err := s.openHook(h)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// Hook returns a webhook, whether it is told of events or not. ErrNotFound.
func (s *Store) Hook(id HookID) (HookInfo, error) {
	h, ok := s.hooks.Load().find(id)
	if !ok {
		return HookInfo{}, ErrNotFound
	}
	return s.openHook(h)
}

// ActiveHook is Hook for those that are told of events. ErrNotFound for others.
func (s *Store) ActiveHook(id HookID) (HookInfo, error) {
	b := s.hooks.Load()
	h, _ := b.find(id)
	for _, active := range b.active[h.Owner] {
		if active.ID == id {
			return s.openHook(h)
		}
	}
	return HookInfo{}, ErrNotFound
}

// RemoveHook forgets a webhook; what waits for it is not sent. ErrNotFound.
func (s *Store) RemoveHook(ctx context.Context, id HookID) error {
	return s.changeHooks(ctx, func(b *hookBook) error {
		h, ok := b.find(id)
		if !ok {
			return ErrNotFound
		}
		return s.engine.RemoveHook(ctx, h.Owner, id)
	})
}

// DisableHook has a webhook told nothing, or told again; what waits for it is not
// sent. ErrNotFound.
func (s *Store) DisableHook(ctx context.Context, id HookID, disabled bool) error {
	return s.changeHooks(ctx, func(b *hookBook) error {
		h, ok := b.find(id)
		if !ok {
			return ErrNotFound
		}
		h.Disabled = disabled
		return s.engine.SetHook(ctx, h)
	})
}
