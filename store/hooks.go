package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// subscriptions are all webhooks, and the events that they ask for. They never change.
type subscriptions struct {
	all      []record.Hook
	active   map[record.AccountID][]record.Hook // the active ones, by owner
	instance record.EventSet                    // the events that the webhook of the instance asks for
}

// quiet reports whether no webhook asks for an event.
func (b *subscriptions) quiet() bool { return b == nil || b.instance == 0 && len(b.active) == 0 }

// asking lists the webhooks that ask for an event of an owner's push.
func (b *subscriptions) asking(owner record.AccountID, e record.Event) (ids []record.HookID) {
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
func (b *subscriptions) find(id record.HookID) (record.Hook, bool) {
	for _, h := range b.all {
		if h.ID == id {
			return h, true
		}
	}
	return record.Hook{}, false
}

// loadHooks reads all webhooks. Those of an account that may not act are not active.
// The caller holds hooking, or is Open.
func (s *Store) loadHooks(ctx context.Context) error {
	b := &subscriptions{instance: s.options().Hooks.Instance, active: make(map[record.AccountID][]record.Hook)}
	var err error
	b.all, err = all(func(last record.Hook) ([]record.Hook, error) {
		return cold.Hooks(ctx, s.engine, last.Owner, last.ID, listBatch)
	})
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	owners := make(map[record.AccountID]bool)
	for _, h := range b.all {
		if _, known := owners[h.Owner]; !known {
			a, err := cold.Account(ctx, s.engine, h.Owner)
			if instead(err, record.ErrNotFound, nil) != nil {
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

// changeHooks runs change, which changes webhooks or what they depend on, and then
// loads them, so that the change holds for every later event.
func (s *Store) changeHooks(ctx context.Context, change func(*subscriptions) error) error {
	s.hooking.Lock()
	defer s.hooking.Unlock()
	if s.options().Shared { // another server may have changed them since
		if err := s.loadHooks(ctx); err != nil {
			return err
		}
	}
	if err := change(s.hooks.Load()); err != nil {
		return err
	}
	return s.loadHooks(context.WithoutCancel(ctx)) // the change is made, even if the caller no longer waits
}

// endingTokens runs change. If so is set, change ends the API tokens of an account, and its
// webhooks with them.
func (s *Store) endingTokens(ctx context.Context, so bool, change func() error) error {
	if !so {
		return change()
	}
	return s.changeHooks(ctx, func(*subscriptions) error { return change() })
}

// A NewHook is a webhook to be made.
type NewHook struct {
	URL    secret.Text
	Form   record.HookForm
	Events []record.Event
}

// AddHook adds a webhook of an account and returns it with its signing secret.
// *InvalidError; ErrNotFound; ErrToken if the account may not act; ErrDenied if the
// actor may not act for it.
func (s *Store) AddHook(ctx context.Context, by Actor, email string, in NewHook) (HookInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (HookInfo, error) { return s.addHook(ctx, by, email, in) })
}

func (s *Store) addHook(ctx context.Context, by Actor, email string, in NewHook) (HookInfo, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return HookInfo{}, err
	}
	var bad record.InvalidError
	if checkHook(in, &bad); bad.Err() != nil {
		return HookInfo{}, bad.Err()
	}
	h, target := s.newHook(a, in)
	err = s.changeHooks(ctx, func(*subscriptions) (err error) {
		h.ID, err = s.as(by).createHook(ctx, a.Email, h)
		return err
	})
	return HookInfo{Hook: h, HookTarget: target}, err
}

// newHook returns a new webhook of an account, which is not stored yet.
func (s *Store) newHook(a record.Account, in NewHook) (record.Hook, HookTarget) {
	h := record.Hook{Owner: a.ID, CreatedAt: s.time.Read().Now, Events: record.NewEventSet(in.Events...)}
	target := HookTarget{URL: in.URL, Secret: newHookSecret(), Form: in.Form, Language: a.Language}
	s.sealHook(&h, target)
	return h, target
}

// Hooks lists an account's webhooks, oldest first. ErrNotFound.
func (s *Store) Hooks(ctx context.Context, email string) ([]HookInfo, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return nil, err
	}
	kept, err := cold.List(ctx, s.engine, record.Hooks, a.ID) // with what was tried last
	if err != nil {
		return nil, err
	}
	var list []HookInfo
	for _, h := range kept {
		info, err := s.openHook(h)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// Hook returns a webhook, active or not, with the language of its account. ErrNotFound.
func (s *Store) Hook(ctx context.Context, id record.HookID) (HookInfo, error) {
	h, ok := s.hooks.Load().find(id)
	if !ok {
		return HookInfo{}, record.ErrNotFound
	}
	return s.speakingHook(ctx, h)
}

// speakingHook opens a webhook. If it tells events in words, it reads the account's language for them.
func (s *Store) speakingHook(ctx context.Context, h record.Hook) (HookInfo, error) {
	info, err := s.openHook(h)
	if err != nil || info.Form == record.FormStandard {
		return info, err
	}
	a, err := cold.Account(ctx, s.engine, h.Owner)
	info.Language = a.Language
	return info, err
}

// ActiveHook is Hook for a webhook that receives events, else ErrNotFound.
func (s *Store) ActiveHook(ctx context.Context, id record.HookID) (HookInfo, error) {
	b := s.hooks.Load()
	h, _ := b.find(id)
	for _, active := range b.active[h.Owner] {
		if active.ID == id {
			return s.speakingHook(ctx, h)
		}
	}
	return HookInfo{}, record.ErrNotFound
}

// RemoveHook removes a webhook, and its messages are not sent. ErrNotFound; ErrDenied.
func (s *Store) RemoveHook(ctx context.Context, by Actor, id record.HookID) error {
	return s.changeHooks(ctx, func(b *subscriptions) error {
		h, ok := b.find(id)
		if !ok {
			return record.ErrNotFound
		}
		return s.as(by).removeHook(ctx, h)
	})
}

// DisableHook disables a webhook, or enables it again. A disabled webhook receives neither events
// nor the messages that wait for it. ErrNotFound; ErrDenied.
func (s *Store) DisableHook(ctx context.Context, by Actor, id record.HookID, disabled bool) error {
	return s.changeHooks(ctx, func(b *subscriptions) error {
		h, ok := b.find(id)
		if !ok {
			return record.ErrNotFound
		}
		kept, err := cold.Hooks(ctx, s.engine, h.Owner, h.ID-1, 1) // with what was tried last
		if err != nil {
			return err
		}
		if len(kept) == 0 || kept[0].ID != h.ID {
			return record.ErrNotFound
		}
		h = kept[0]
		h.Disabled = disabled
		return s.as(by).setHook(ctx, h)
	})
}

const (
	// MaxHookURL is the most bytes of the address of a webhook.
	MaxHookURL = 2048
	// HookSecretPrefix begins the secret of a webhook; base64 follows.
	HookSecretPrefix = "whsec_"

	hookSecretSize = 32 // random bytes
)

// A HookTarget is the address of a webhook, the key that signs its messages, and their form.
// Address and key are secret: the address often holds a secret too.
type HookTarget struct {
	URL, Secret secret.Text
	Form        record.HookForm
	Language    string // that the account chose for what it reads; empty: none; not sealed
}

// A HookInfo is a webhook with its target.
type HookInfo struct {
	record.Hook
	HookTarget
}

// newHookSecret returns a signing secret in the form of the Standard Webhooks
// specification.
func newHookSecret() secret.Text {
	b := make([]byte, hookSecretSize)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return secret.New(HookSecretPrefix + base64.StdEncoding.EncodeToString(b))
}

// checkHook refuses a webhook that cannot work. The sender of messages decides which hosts are
// allowed.
func checkHook(in NewHook, bad *record.InvalidError) {
	checkLength("url", in.URL.Len(), MaxHookURL, bad)
	u, err := url.Parse(in.URL.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		bad.Add("url", "must be an http or https URL without a user name")
	}
	if !in.Form.Valid() {
		bad.Add("form", "must be one of the forms of webhooks")
	}
	if len(in.Events) == 0 {
		bad.Add("events", "must have at least one")
	}
}

const (
	followPeriod = time.Second // between two checks for changes by other servers
	countShare   = 10          // counting the outbox takes at most this fraction of the time
)

// Follow loads changes by other servers into memory: the webhooks and whether their accounts may
// act, which mails accounts want, and how many messages wait. The engine follows the key ring. It
// returns how long to wait before the next call: a second, or more where many messages wait. A
// store that no other server shares has nothing to follow.
func (s *Store) Follow(ctx context.Context) (wait time.Duration, err error) {
	if !s.options().Shared {
		return SweepPeriod, nil
	}
	if err := s.followHooks(ctx); err != nil {
		return followPeriod, err
	}
	begun := time.Now()
	waiting, err := s.recount(ctx)
	if err != nil {
		return followPeriod, err
	}
	s.outbox.waiting.Store(waiting)
	return max(followPeriod, countShare*time.Since(begun)), nil
}

// followHooks loads the webhooks if anything that they depend on has changed since the last call:
// each change of a webhook or an account writes an event. Sign-ins write events too, but they
// change neither.
func (s *Store) followHooks(ctx context.Context) error {
	seen := s.followed.Load()
	last, err := cold.LastAdminEvent(ctx, s.engine)
	if err != nil || last == seen {
		return err
	}
	missed, err := cold.AdminEvents(ctx, s.engine, seen, int(min(last-seen, listBatch)))
	if err == nil && uint64(len(missed)) == last-seen && !slices.ContainsFunc(missed, record.AdminEvent.ChangesHooks) { // an unreadable event may be such a change
		s.followed.Store(last)
		return nil
	}
	s.watchers.forgetAll()
	s.hooking.Lock()
	defer s.hooking.Unlock()
	if err := s.loadHooks(ctx); err != nil {
		return err
	}
	s.followed.Store(last)
	return nil
}

// NoteDeliveries records tries to send messages to a webhook, if it still exists.
func (s *Store) NoteDeliveries(ctx context.Context, id record.HookID, tried []record.Delivery) error {
	h, ok := s.hooks.Load().find(id)
	if !ok || len(tried) == 0 {
		return nil
	}
	return s.keeping(ctx, func(ctx context.Context) error { return cold.NoteDeliveries(ctx, s.engine, h.Owner, id, tried) })
}

// AddOwnHook is AddHook for the account of a session. The password proves that the account is the
// caller's, and so does a second factor if it has one: a client that has only stolen the session
// must not receive the account's events for good.
//
// Errors: as those of CreateOwnToken and AddHook; ErrUnconfirmed.
func (s *Store) AddOwnHook(ctx context.Context, by Actor, session, password secret.Text, f Factor, in NewHook) (HookInfo, error) {
	var bad record.InvalidError
	if checkHook(in, &bad); bad.Err() != nil {
		return HookInfo{}, bad.Err()
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return HookInfo{}, err
	}
	if c.account.Unconfirmed {
		return HookInfo{}, record.ErrUnconfirmed
	}
	return sealing(ctx, s, func(ctx context.Context) (HookInfo, error) {
		h, target := s.newHook(c.account, in)
		err := s.changeHooks(ctx, func(*subscriptions) error {
			if err := s.countChange(ctx, c.account.ID); err != nil {
				return err
			}
			done, err := s.changeOwn(ctx, c, record.AdminWebhookAdd, eventNames(h.Events), func(a *record.Account) (record.SessionChange, error) {
				return record.SessionChange{Hook: &h}, use(a) // in one transaction: the session may have ended meanwhile
			})
			h.ID = done.Hook
			return err
		})
		return HookInfo{Hook: h, HookTarget: target}, err
	})
}

// TestHook calls send to send a test to a webhook of the actor's account, and records the outcome.
// If the receiver accepts it, a disabled webhook is enabled again. ErrNotFound; *LockedError after
// too many changes.
func (s *Store) TestHook(ctx context.Context, by Actor, id record.HookID, send func(context.Context, HookTarget) (status int, f record.Fault)) (record.Delivery, error) {
	h, err := s.Hook(ctx, id)
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
