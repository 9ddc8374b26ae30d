package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

func isThere(t *testing.T, f *storetest.Fixture, p store.PushInfo) bool {
	t.Helper()
	_, err := f.Preview(ctx, p.Token)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestTheSweeperPurgesPushesOfNobodyADayAfterTheyExpired(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	oneDay := func(in *store.NewPush) { in.Days = ptr(1) }
	anonymous, owned := push(t, f, nobody, oneDay), push(t, f, ann, oneDay)
	f.Clock.Advance(2*day - time.Millisecond)
	f.SweepAll()
	if !isThere(t, f, anonymous) {
		t.Error("it was purged too soon")
	}
	f.Clock.Advance(time.Millisecond)
	f.SweepAll()
	if isThere(t, f, anonymous) {
		t.Error("it was not purged")
	}
	f.Clock.Advance(1000 * day)
	f.SweepAll()
	if !isThere(t, f, owned) {
		t.Error("an account's push was purged without being told to")
	}
}

func TestTheSweeperPurgesAnAccountsPushesWhenToldTo(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.PurgeAfter = 30 * day })
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, nil)
	if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(30*day - time.Millisecond)
	f.SweepAll()
	if !isThere(t, f, p) {
		t.Error("it was purged too soon")
	}
	f.Clock.Advance(time.Millisecond)
	f.SweepAll()
	if isThere(t, f, p) {
		t.Error("it was not purged")
	}
}

func TestTheSweeperEndsMoreThanOneBatch(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	var made []store.PushInfo
	for range 600 {
		made = append(made, push(t, f, nobody, func(in *store.NewPush) { in.Days = ptr(1) }))
	}
	f.Clock.Advance(day)
	f.SweepAll()
	for _, p := range made {
		if got, err := f.Preview(ctx, p.Token); err != nil || got.State != store.Expired {
			t.Fatalf("state %d, %v", got.State, err)
		}
	}
}

func TestTheSweeperSleepsUntilTheNextEnd(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	wait := func() time.Duration {
		t.Helper()
		d, err := f.Sweep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := wait(); got != time.Minute {
		t.Errorf("with nothing to do it sleeps %v", got)
	}
	push(t, f, nobody, func(in *store.NewPush) { in.Lifetime = 15 * time.Minute })
	if got := wait(); got != time.Minute {
		t.Errorf("with a push that ends later it sleeps %v", got)
	}
	f.Clock.Advance(14*time.Minute + 40*time.Second)
	if got := wait(); got != 20*time.Second {
		t.Errorf("20 s before an end it sleeps %v", got)
	}
}

func TestKeysAreRenewedAndOldLinksStillOpen(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	var made []store.PushInfo
	for range 4 {
		made = append(made, push(t, f, ann, func(in *store.NewPush) { in.Days, in.Name = ptr(90), secret.New("kept") }))
		for range 30 {
			f.Clock.Advance(day)
			f.SweepAll()
		}
		f.Reopen()
	}
	for i, p := range made[2:] {
		if retrieve(t, f, nobody, p) != "s3cret" {
			t.Errorf("push %d does not open", i+2)
		}
	}
	if expired, err := f.Pushes(ctx, ann, false, 1); err != nil || len(expired) != 2 || expired[1].Name.Reveal() != "kept" {
		t.Errorf("the name of the oldest: %d, %v", len(expired), err)
	}
}

// Keys are dropped by what is sealed under them, not by time: a clock that was
// wrong at the start of the process stamps pushes with a time that no key has.
func TestAPushFromAWrongFutureKeepsItsKey(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	f.Clock.Jump(400 * day)
	f.Reopen()
	p := push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New("kept") })
	f.Clock.Jump(-400 * day)
	for range 100 {
		f.Clock.Advance(day)
		f.SweepAll()
	}
	if retrieve(t, f, nobody, p) != "s3cret" {
		t.Error("it does not open")
	}
	if live, err := f.Pushes(ctx, ann, true, 1); err != nil || len(live) != 1 || live[0].Name.Reveal() != "kept" {
		t.Errorf("%d live pushes, %v", len(live), err)
	}
}

// A stubborn engine refuses to change some pushes.
type stubborn struct {
	store.Engine
	refused map[store.ID]bool
}

func (e *stubborn) Change(ctx context.Context, id store.ID, r store.Rule) (store.Change, error) {
	if e.refused[id] {
		return store.Change{}, store.ErrCorrupt
	}
	return e.Engine.Change(ctx, id, r)
}

func TestAPushThatCannotBeEndedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	engine := &stubborn{refused: make(map[store.ID]bool)}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e store.Engine) store.Engine { engine.Engine = e; return engine }
	})
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	oneDay := func(in *store.NewPush) { in.Days = ptr(1) }
	engine.refused[push(t, f, ann, oneDay).ID] = true
	var others []store.PushInfo
	for range 600 {
		others = append(others, push(t, f, bob, oneDay))
	}
	f.Clock.Advance(day)
	if _, err := f.Sweep(ctx); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("the sweep says %v", err)
	}
	for _, p := range others {
		if got, err := f.Preview(ctx, p.Token); err != nil || got.Live() {
			t.Fatalf("another one is live: %v, %v", got.Live(), err)
		}
	}
	if _, err := f.Pushes(ctx, bob, true, 1); err != nil {
		t.Errorf("another account's list: %v", err)
	}
	clear(engine.refused)
}

// A haunted engine has a row in its expiry index that belongs to no push.
type haunted struct{ store.Engine }

func (e haunted) Due(ctx context.Context, s store.Shelf, until time.Time, limit int) ([]store.ID, time.Time, error) {
	ids, _, err := e.Engine.Due(ctx, s, until, limit)
	return append(ids, store.ID{1}), until, err
}

func TestASweepEndsWhateverTheIndexSays(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e store.Engine) store.Engine { return haunted{e} }
	})
	p := push(t, f, nobody, func(in *store.NewPush) { in.Days = ptr(1) })
	f.Clock.Advance(day)
	wait, err := f.Sweep(ctx)
	if err != nil || wait < time.Second {
		t.Errorf("it sleeps %v, %v", wait, err)
	}
	if got, err := f.Preview(ctx, p.Token); err != nil || got.Live() {
		t.Errorf("the push is live: %v, %v", got.Live(), err)
	}
}

func TestAStoreThatLostItsKeyRingIsDamaged(t *testing.T) {
	t.Parallel()
	var engine store.Engine
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e store.Engine) store.Engine { engine = e; return e }
	})
	push(t, f, nobody, nil)
	_, err := store.Open(ctx, ringless{engine}, seal.NewRootKey(), store.Options{})
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("it opens: %v", err)
	}
}

// A ringless engine has no key ring.
type ringless struct{ store.Engine }

func (ringless) KeyRing(context.Context) ([]byte, error) { return nil, nil }
