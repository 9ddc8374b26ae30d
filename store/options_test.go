package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// options are those of a fixture, to be changed.
func options() store.Options {
	return store.Options{
		Terms:    storetest.Terms(),
		Guessing: store.Guessing{PerClient: 5, PerPush: 20, Queue: 64},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 30, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * day},
		SignIns:  store.SignInLimits{PerClient: 5, PerAccount: 10},
	}
}

func TestOtherOptionsHoldAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := store.Actor{Account: storetest.AddMember(t, f, email).ID}
	kept, n := storetest.Push(t, f, ann, nil), storetest.SignIn(t, f)
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
	wantResume(t, f, n, record.ErrSession)
	f.SweepAll()
	if isThere(t, f, kept) {
		t.Error("it was not purged when told to")
	}
	o.Space.MinFree = 1 << 62
	f.Configure(o)
	_, err := f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
	if !errors.Is(err, record.ErrFull) {
		t.Errorf("without room it says %v", err)
	}
}

// TestASnapshotKeepsItsTerms: but not limits that are counted for all.
func TestASnapshotKeepsItsTerms(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	snapshot := f.Snapshot()
	protected := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	o := options()
	delete(o.Terms, record.URL)
	o.Guessing.PerClient = 1
	f.Configure(o)
	url := store.NewPush{Kind: record.URL, Payload: secret.New("https://example.com")}
	if _, err := snapshot.CreatePush(ctx, anonymous, url); err != nil {
		t.Errorf("snapshot, it says %v", err)
	}
	for name, s := range map[string]*store.Store{"the store": f.Store, "a new snapshot": f.Snapshot(), "a snapshot of it": snapshot.Snapshot()} {
		if _, err := s.CreatePush(ctx, anonymous, url); err == nil {
			t.Errorf("%s takes what is disabled", name)
		}
	}
	if _, err := snapshot.Retrieve(ctx, anonymous, protected.Token, secret.New("wrong"), nil); !errors.Is(err, record.ErrPassphrase) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if _, err := snapshot.Retrieve(ctx, anonymous, protected.Token, secret.New("right"), nil); !errors.Is(err, record.ErrLocked) {
		t.Errorf("after the one try that there is now: %v", err)
	}
}
