package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

// options are those of a fixture, to be changed.
func options() store.Options {
	return store.Options{
		Terms:    storetest.Terms(),
		Guessing: store.Guessing{PerClient: 5, PerPush: 20, Queue: 64, Clients: 1000},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 30, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * day},
		SignIns:  store.SignInLimits{PerClient: 5, PerAccount: 10},
	}
}

func TestOtherOptionsHoldAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := store.Actor{Account: member(t, f, email).ID}
	kept, n := push(t, f, ann, nil), signIn(t, f)
	if _, err := f.DeletePush(ctx, ann, kept.Token); err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(2 * time.Hour)
	f.SweepAll()
	if !isThere(t, f, kept) {
		t.Fatal("it was purged without being told to")
	}
	o := options()
	o.PurgeAfter, o.Sessions.Idle = time.Hour, time.Hour
	f.Configure(o)
	wantResume(t, f, n, store.ErrSession)
	f.SweepAll()
	if isThere(t, f, kept) {
		t.Error("it was not purged when told to")
	}
	o.Room.MinFree = 1 << 62
	f.Configure(o)
	_, err := f.CreatePush(ctx, nobody, store.NewPush{Kind: store.Text, Payload: secret.New("x")})
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("without room it says %v", err)
	}
}

// TestAPinnedStoreKeepsItsTerms: but not limits that are counted for all.
func TestAPinnedStoreKeepsItsTerms(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	pinned := f.Pinned()
	protected := push(t, f, nobody, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	o := options()
	delete(o.Terms, store.URL)
	o.Guessing.PerClient = 1
	f.Configure(o)
	url := store.NewPush{Kind: store.URL, Payload: secret.New("https://example.com")}
	if _, err := pinned.CreatePush(ctx, nobody, url); err != nil {
		t.Errorf("pinned, it says %v", err)
	}
	for name, s := range map[string]*store.Store{"the store": f.Store, "pinned anew": f.Pinned(), "pinned again": pinned.Pinned()} {
		if _, err := s.CreatePush(ctx, nobody, url); err == nil {
			t.Errorf("%s takes what is disabled", name)
		}
	}
	if _, err := pinned.Retrieve(ctx, nobody, protected.Token, secret.New("wrong")); !errors.Is(err, store.ErrPassphrase) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if _, err := pinned.Retrieve(ctx, nobody, protected.Token, secret.New("right")); !errors.Is(err, store.ErrLocked) {
		t.Errorf("after the one try that there is now: %v", err)
	}
}
