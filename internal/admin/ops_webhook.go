package admin

import (
	"context"
	"errors"
	"time"

	"pushbox/store"
)

// The operations on webhooks.
var (
	// WebhookAdd adds a webhook to an account: *store.InvalidError,
	// store.ErrNotFound, store.ErrToken if the account is disabled.
	WebhookAdd = Op[WebhookRequest, NewWebhook]{name: "webhook/add", do: webhookAdd}
	// WebhookList lists an account's webhooks, oldest first: store.ErrNotFound.
	WebhookList = Op[Address, []Webhook]{name: "webhook/list", do: webhookList}
	// WebhookRemove forgets a webhook: store.ErrNotFound.
	WebhookRemove = Op[WebhookRef, None]{name: "webhook/remove", do: webhookRemove}
	// WebhookTarget tells where a webhook leads and what it signs with:
	// store.ErrNotFound.
	WebhookTarget = Op[WebhookRef, NewWebhook]{name: "webhook/target", do: webhookTarget}
	// WebhookEnable has a webhook told of events again: store.ErrNotFound.
	WebhookEnable = Op[WebhookRef, None]{name: "webhook/enable", do: webhookEnable}
)

// A WebhookRequest asks for a webhook.
type WebhookRequest struct {
	Email  string
	URL    Clear
	Events []string // names of them
}

// A WebhookRef names a webhook.
type WebhookRef struct{ ID store.HookID }

// A Webhook is what is shown of a webhook.
type Webhook struct {
	ID        store.HookID
	URL       Clear
	Events    []string
	CreatedAt time.Time
	Disabled  bool // its receiver answered 410
}

// A NewWebhook is a webhook with its signing secret.
type NewWebhook struct {
	Webhook
	Secret Clear
}

func newWebhook(h store.HookInfo) Webhook {
	return Webhook{
		ID: h.ID, URL: Clear{h.URL}, CreatedAt: h.CreatedAt, Disabled: h.Disabled,
		Events: each(h.Events.Events(), store.Event.String),
	}
}

func webhookAdd(ctx context.Context, s *store.Store, in WebhookRequest) (NewWebhook, error) {
	var events []store.Event
	for _, name := range in.Events {
		e, ok := store.ParseEvent(name)
		if !ok {
			return NewWebhook{}, errors.New("there is no event of that name")
		}
		events = append(events, e)
	}
	h, err := s.AddHook(ctx, in.Email, in.URL.Text, events)
	return NewWebhook{newWebhook(h), Clear{h.Secret}}, err
}

func webhookList(ctx context.Context, s *store.Store, in Address) ([]Webhook, error) {
	hooks, err := s.Hooks(ctx, in.Email)
	return each(hooks, newWebhook), err
}

func webhookRemove(ctx context.Context, s *store.Store, in WebhookRef) (None, error) {
	return None{}, s.RemoveHook(ctx, in.ID)
}

func webhookTarget(_ context.Context, s *store.Store, in WebhookRef) (NewWebhook, error) {
	h, err := s.Hook(in.ID)
	return NewWebhook{newWebhook(h), Clear{h.Secret}}, err
}

func webhookEnable(ctx context.Context, s *store.Store, in WebhookRef) (None, error) {
	return None{}, s.DisableHook(ctx, in.ID, false)
}
