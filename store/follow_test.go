package store_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A hookReader is an engine that counts how often webhooks are listed.
type hookReader struct {
	record.Engine
	lists *atomic.Int64
}

func (e hookReader) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(hookView{v, e.lists}) })
}

type hookView struct {
	record.View
	lists *atomic.Int64
}

func (v hookView) List(of *record.Table, r record.Range) ([]record.Record, error) {
	if of == record.Hooks.Table {
		v.lists.Add(1)
	}
	return v.View.List(of, r)
}

// Sign-ins are events of the instance log, as changes of webhooks are, and are many more.
func TestSignInsAreNoReasonToReadAllWebhooks(t *testing.T) {
	t.Parallel()
	var lists atomic.Int64
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Shared, s.SignIns = true, store.SignInLimits{PerClient: 1000, PerAccount: 1000}
		s.Wrap = func(e record.Engine) record.Engine { return hookReader{e, &lists} }
	})
	storetest.AddMember(t, f, storetest.Email)
	follow(t, f)
	lists.Store(0)
	for range 2 {
		session := storetest.SignIn(t, f)
		if _, err := f.Store.SignIn(ctx, storetest.Anonymous, storetest.Email, secret.New("not the password")); !errors.Is(err, record.ErrCredentials) {
			t.Fatal(err)
		}
		if err := f.SignOut(ctx, storetest.Anonymous, session.Secret); err != nil {
			t.Fatal(err)
		}
		follow(t, f)
	}
	if n := lists.Load(); n > 0 {
		t.Errorf("webhooks were listed %d times", n)
	}
	storetest.SignIn(t, f)
	told := storetest.Told(f.Engine())
	told.Kind = record.AdminWebhookAdd
	if err := cold.AddAdminEvent(ctx, f.Engine(), told); err != nil { // as another server does
		t.Fatal(err)
	}
	storetest.SignIn(t, f)
	if follow(t, f); lists.Load() == 0 {
		t.Error("what another server changed was not read")
	}
}
