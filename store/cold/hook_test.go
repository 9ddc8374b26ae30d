package cold_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestHooks(t *testing.T) {
	suite{
		"webhooks are kept and listed by owner":                   keepsHooks,
		"a webhook of an owner who may not act is refused":        refusesAHook,
		"an account has no more webhooks than it may":             boundsHooks,
		"a webhook keeps its last tries":                          keepsDeliveries,
		"a removed webhook is gone, and its ID is not used again": removesHooks,
	}.run(t)
}

// allHooks lists webhooks in steps of two.
func allHooks(t *testing.T, e record.Engine) (all []record.Hook) {
	t.Helper()
	for {
		var last record.Hook
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		list, err := cold.Hooks(t.Context(), e, last.Owner, last.ID, 2)
		must(t, err)
		all = append(all, list...)
		if len(list) < 2 {
			return all
		}
	}
}

// keepHook keeps a webhook and returns it.
func keepHook(t *testing.T, e record.Engine, owner record.AccountID) record.Hook {
	t.Helper()
	h := conformance.Hook(owner)
	id, err := cold.CreateHook(t.Context(), e, h, conformance.Told)
	must(t, err)
	h.ID = id
	return h
}

func keepsHooks(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	same(t, "webhooks of a new engine", allHooks(t, e), []record.Hook(nil))
	first, other, second := keepHook(t, e, ann), keepHook(t, e, bob), keepHook(t, e, ann)
	same(t, "webhooks", allHooks(t, e), []record.Hook{first, second, other})
	second.Disabled, second.Events = true, record.NewEventSet(record.EventExpire, record.EventView)
	must(t, cold.SetHook(t.Context(), e, second, conformance.Told))
	same(t, "webhooks after one was changed", allHooks(t, e), []record.Hook{first, second, other})
	second.Owner = bob
	wantErr(t, cold.SetHook(t.Context(), e, second, conformance.Told), record.ErrNotFound)
	clear(allHooks(t, e)[0].Sealed)
	same(t, "webhook after its copy was changed", allHooks(t, e)[0], first)
}

func keepsDeliveries(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	first, other := keepHook(t, e, ann), keepHook(t, e, ann)
	for n := range record.MaxDeliveries + 2 {
		tried := []record.Delivery{{At: epoch.Add(time.Duration(n) * time.Second), Event: record.EventView, Status: 200 + n}, {At: epoch, Fault: record.FaultSlow}}
		must(t, cold.NoteDeliveries(t.Context(), e, ann, first.ID, tried))
		first = first.With(tried)
	}
	if len(first.Tried) != record.MaxDeliveries {
		t.Errorf("it keeps %d", len(first.Tried))
	}
	same(t, "webhooks", allHooks(t, e), []record.Hook{first, other})
	must(t, cold.RemoveHook(t.Context(), e, ann, first.ID, conformance.Told))
	must(t, cold.NoteDeliveries(t.Context(), e, ann, first.ID, first.Tried))
	same(t, "webhooks without it", allHooks(t, e), []record.Hook{other})
}

func refusesAHook(t *testing.T, e record.Engine) {
	_, err := cold.CreateHook(t.Context(), e, conformance.Hook(7), conformance.Told)
	wantErr(t, err, record.ErrToken)
	owner := account(t, e, "a@example.org")
	_, err = cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Disabled = true
		return a, record.SessionChange{}, conformance.Told, nil
	})
	must(t, err)
	_, err = cold.CreateHook(t.Context(), e, conformance.Hook(owner), conformance.Told)
	wantErr(t, err, record.ErrToken)
	same(t, "webhooks", allHooks(t, e), []record.Hook(nil))
}

func removesHooks(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	first, other := keepHook(t, e, ann), keepHook(t, e, bob)
	wantErr(t, cold.RemoveHook(t.Context(), e, bob, first.ID, conformance.Told), record.ErrNotFound)
	must(t, cold.RemoveHook(t.Context(), e, ann, first.ID, conformance.Told))
	wantErr(t, cold.RemoveHook(t.Context(), e, ann, first.ID, conformance.Told), record.ErrNotFound)
	if again := keepHook(t, e, ann); again.ID <= other.ID {
		t.Errorf("webhook %d came after %d", again.ID, other.ID)
	}
	must(t, cold.RemoveAccount(t.Context(), e, ann, conformance.Told))
	same(t, "webhooks after their account was removed", allHooks(t, e), []record.Hook{other})
}

func boundsHooks(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	for range record.MaxHooks {
		keepHook(t, e, ann)
	}
	_, err := cold.CreateHook(t.Context(), e, conformance.Hook(ann), conformance.Told)
	var invalid *record.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields["webhooks"] == nil {
		t.Errorf("one more webhook: %v", err)
	}
	keepHook(t, e, bob)
	same(t, "number of webhooks", len(allHooks(t, e)), record.MaxHooks+1)
}
