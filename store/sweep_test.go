package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

func isThere(t *testing.T, f *storetest.Fixture, p store.PushInfo) bool {
	t.Helper()
	_, err := f.Preview(ctx, p.Token)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestTheSweeperPurgesAnonymousPushesADayAfterTheyExpired(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	oneDay := func(in *store.NewPush) { in.Days = ptr(1) }
	unowned, owned := storetest.Push(t, f, anonymous, oneDay), storetest.Push(t, f, ann, oneDay)
	f.Clock.Advance(2*day - time.Millisecond)
	f.SweepAll()
	if !isThere(t, f, unowned) {
		t.Error("it was purged too soon")
	}
	f.Clock.Advance(time.Millisecond)
	f.SweepAll()
	if isThere(t, f, unowned) {
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
	p := storetest.Push(t, f, ann, nil)
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
		made = append(made, storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Days = ptr(1) }))
	}
	f.Clock.Advance(day)
	f.SweepAll()
	for _, p := range made {
		if got, err := f.Preview(ctx, p.Token); err != nil || got.State != record.Expired {
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
		env.OK(t, err)
		return d
	}
	if got := wait(); got != time.Minute {
		t.Errorf("with nothing to do it sleeps %v", got)
	}
	storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Lifetime = 15 * time.Minute })
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
		made = append(made, storetest.Push(t, f, ann, func(in *store.NewPush) { in.Days, in.Name = ptr(90), secret.New("kept") }))
		for range 30 {
			f.Clock.Advance(day)
			f.SweepAll()
		}
		f.Reopen()
	}
	for i, p := range made[2:] {
		if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
			t.Errorf("push %d does not open", i+2)
		}
	}
	if expired, err := f.Pushes(ctx, ann, false, 1); err != nil || len(expired) != 2 || expired[1].Name.Reveal() != "kept" {
		t.Errorf("the name of the oldest: %d, %v", len(expired), err)
	}
}

// A key encryption key goes with the pushes of its month, whatever their owner keeps of
// them.
func TestAKeyIsDroppedWhenNothingLiveNeedsIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.EventView)
	for range 3 {
		f.Clock.Advance(day)
		storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New("kept") })
	}
	long := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Days = ptr(40) })
	begun := f.Clock.Now().Add(-3 * day)
	until := func(d time.Duration, want ...uint32) {
		t.Helper()
		for f.Clock.Now().Before(begun.Add(d)) {
			f.Clock.Advance(time.Hour)
			f.SweepAll()
		}
		if got := f.KEKs(); !slices.Equal(got, want) {
			t.Errorf("after %v the keys are %v, not %v", d, got, want)
		}
	}
	until(29*day, 1)
	until(33*day, 1, 2)
	until(43*day, 1, 2) // the last push under the first key ends
	until(44*day+time.Hour, 2)
	f.Reopen()
	until(45*day, 2)
	if storetest.Retrieve(t, f, anonymous, long) != "" {
		t.Error("the last push has not ended")
	}
	list, err := f.Pushes(ctx, ann, false, 1)
	if err != nil || len(list) != 4 || list[3].Name.Reveal() != "kept" {
		t.Errorf("%d have ended, %v", len(list), err)
	}
	if h, err := f.Hooks(ctx, "ann@example.com"); err != nil || len(h) != 1 {
		t.Errorf("%d webhooks, %v", len(h), err)
	}
}

// A grant outlives the push that issued it by a day at most, and the key by more.
func TestAKeyIsKeptWhileAGrantNeedsIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	f.Clock.Advance(30*day + 30*time.Minute)
	f.SweepAll() // the next key comes into use in an hour
	p := storetest.PushFiles(t, f, ann, func(in *store.NewPush) { in.Views = ptr(1) }, storetest.Content(1, 100))
	shown, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
	env.OK(t, err)
	for range 23 {
		for range 6 { // the download keeps its grant
			f.Clock.Advance(10 * time.Minute)
			d, err := f.Download(ctx, shown.Grant, 0)
			env.OK(t, err)
			if _, err := io.ReadAll(d); err != nil {
				t.Fatal(err)
			}
			d.Close()
		}
		f.SweepAll()
	}
	if got := f.KEKs(); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("the keys are %v", got)
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
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New("kept") })
	f.Clock.Jump(-400 * day)
	for range 100 {
		f.Clock.Advance(day)
		f.SweepAll()
	}
	if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
		t.Error("it does not open")
	}
	if live, err := f.Pushes(ctx, ann, true, 1); err != nil || len(live) != 1 || live[0].Name.Reveal() != "kept" {
		t.Errorf("%d live pushes, %v", len(live), err)
	}
}

// A stubborn engine refuses to change some pushes.
type stubborn struct {
	record.Engine
	refused map[record.ID]bool
}

func (e *stubborn) Change(ctx context.Context, id record.ID, r record.Rule) (record.Change, error) {
	if e.refused[id] {
		return record.Change{}, record.ErrCorrupt
	}
	return e.Engine.Change(ctx, id, r)
}

func TestAPushThatCannotBeEndedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	engine := &stubborn{refused: make(map[record.ID]bool)}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { engine.Engine = e; return engine }
	})
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	oneDay := func(in *store.NewPush) { in.Days = ptr(1) }
	engine.refused[storetest.Push(t, f, ann, oneDay).ID] = true
	var others []store.PushInfo
	for range 600 {
		others = append(others, storetest.Push(t, f, bob, oneDay))
	}
	f.Clock.Advance(day)
	if _, err := f.Sweep(ctx); !errors.Is(err, record.ErrCorrupt) {
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
type haunted struct{ record.Engine }

func (e haunted) Due(ctx context.Context, s record.ExpiryQueue, behind record.ExpiryPlace, until time.Time, limit int) ([]record.ID, time.Time, error) {
	ids, _, err := e.Engine.Due(ctx, s, behind, until, limit)
	return append(ids, record.ID{1}), until, err
}

func TestASweepEndsWhateverTheIndexSays(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return haunted{e} }
	})
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Days = ptr(1) })
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
	f := storetest.New(t)
	storetest.Push(t, f, anonymous, nil)
	path := filepath.Join(t.TempDir(), "pushbox.db")
	env.OK(t, os.WriteFile(path, env.Read(t, f.Path), 0o600))
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: path})
	env.OK(t, err)
	defer func() { _ = engine.Close() }()
	_, err = store.Open(ctx, ringless{engine}, seal.NewRootKey(), store.Options{})
	if !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("it opens: %v", err)
	}
}

// A ringless engine has no key ring.
type ringless struct{ record.Engine }

func (ringless) KeyRing(context.Context) ([]byte, error) { return nil, nil }

// A laden engine always has more files to free.
type laden struct {
	record.Engine
	kept bool // the time was kept
	none bool // there are no more files
}

func (*laden) Orphans(_ context.Context, after record.ID, _ int) ([]record.ID, error) {
	if after == (record.ID{}) {
		return []record.ID{{1}}, nil
	}
	return nil, nil
}

func (e *laden) FreeOrphans(ctx context.Context, _ record.ID, _ int) (more bool, err error) {
	if !e.none {
		<-ctx.Done()
	}
	return !e.none, ctx.Err()
}

func (e *laden) KeepTime(ctx context.Context, latest time.Time) (time.Time, error) {
	e.kept = ctx.Err() == nil
	return e.Engine.KeepTime(ctx, latest)
}

// A stop leaves files to the next start, and keeps what it must.
func TestAStopDoesNotWaitForAllFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, aStopDoesNotWaitForAllFiles)
}

func aStopDoesNotWaitForAllFiles(t *testing.T) {
	engine := &laden{}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { engine.Engine = e; return engine }
	})
	f.Abandon() // it is closed here
	stopping, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := f.Close(stopping); err != nil || !engine.kept {
		t.Errorf("%v; it kept the time: %v", err, engine.kept)
	}
	engine.none = true // for the end of the fixture
}
