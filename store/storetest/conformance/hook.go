package conformance

import (
	"testing"
	"time"

	"pushbox/store"
)

var hookSuite = suite{
	"webhooks are kept and listed by owner":                   keepsHooks,
	"a webhook of an owner who may not act is refused":        refusesAHook,
	"a webhook keeps its last tries":                          keepsDeliveries,
	"a removed webhook is gone, and its ID is not used again": removesHooks,
}

// allHooks lists webhooks in steps of two.
func allHooks(t *testing.T, e store.Engine) (all []store.Hook) {
	t.Helper()
	for {
		var last store.Hook
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		list, err := e.Hooks(t.Context(), last.Owner, last.ID, 2)
		must(t, err)
		all = append(all, list...)
		if len(list) < 2 {
			return all
		}
	}
}

func keepsHooks(t *testing.T, e store.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	same(t, "webhooks of a new engine", allHooks(t, e), []store.Hook(nil))
	first, other, second := keepHook(t, e, ann), keepHook(t, e, bob), keepHook(t, e, ann)
	same(t, "webhooks", allHooks(t, e), []store.Hook{first, second, other})
	second.Disabled, second.Events = true, store.NewEventSet(store.EventExpire, store.EventView)
	must(t, e.SetHook(t.Context(), second, Told))
	same(t, "webhooks after one was changed", allHooks(t, e), []store.Hook{first, second, other})
	second.Owner = bob
	wantErr(t, e.SetHook(t.Context(), second, Told), store.ErrNotFound)
	scribble(allHooks(t, e)[0].Sealed)
	same(t, "webhook after its copy was changed", allHooks(t, e)[0], first)
}

func keepsDeliveries(t *testing.T, e store.Engine) {
	ann := account(t, e, "a@example.org")
	first, other := keepHook(t, e, ann), keepHook(t, e, ann)
	for n := range store.MaxDeliveries + 2 {
		tried := []store.Delivery{{At: epoch.Add(time.Duration(n) * time.Second), Event: store.EventView, Status: 200 + n}, {At: epoch, Fault: store.FaultSlow}}
		must(t, e.NoteDeliveries(t.Context(), ann, first.ID, tried))
		first = first.With(tried)
	}
	if len(first.Tried) != store.MaxDeliveries {
		t.Errorf("it keeps %d", len(first.Tried))
	}
	same(t, "webhooks", allHooks(t, e), []store.Hook{first, other})
	must(t, e.RemoveHook(t.Context(), ann, first.ID, Told))
	must(t, e.NoteDeliveries(t.Context(), ann, first.ID, first.Tried))
	same(t, "webhooks without it", allHooks(t, e), []store.Hook{other})
}

func refusesAHook(t *testing.T, e store.Engine) {
	_, err := e.CreateHook(t.Context(), hookOf(7), Told)
	wantErr(t, err, store.ErrToken)
	owner := account(t, e, "a@example.org")
	_, err = e.ChangeAccount(t.Context(), owner, store.SessionDigest{}, func(a store.Account) (store.Account, store.SessionChange, store.AdminEvent, error) {
		a.Disabled = true
		return a, store.SessionChange{}, Told, nil
	})
	must(t, err)
	_, err = e.CreateHook(t.Context(), hookOf(owner), Told)
	wantErr(t, err, store.ErrToken)
	same(t, "webhooks", allHooks(t, e), []store.Hook(nil))
}

func removesHooks(t *testing.T, e store.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	first, other := keepHook(t, e, ann), keepHook(t, e, bob)
	wantErr(t, e.RemoveHook(t.Context(), bob, first.ID, Told), store.ErrNotFound)
	must(t, e.RemoveHook(t.Context(), ann, first.ID, Told))
	wantErr(t, e.RemoveHook(t.Context(), ann, first.ID, Told), store.ErrNotFound)
	if again := keepHook(t, e, ann); again.ID <= other.ID {
		t.Errorf("webhook %d came after %d", again.ID, other.ID)
	}
	must(t, e.RemoveAccount(t.Context(), ann, Told))
	same(t, "webhooks after their account was removed", allHooks(t, e), []store.Hook{other})
}
