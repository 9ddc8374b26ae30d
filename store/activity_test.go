package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// What happened is counted on its day in UTC, and only on the days that were asked for.
func TestActivityIsCountedByDays(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine, func(o *storetest.Setup) { o.PurgeAfter = 365 * day })
		const longest = 90 * day
		bob := f.Account("bob@example.com")
		push := func(days int) store.PushInfo {
			p, err := f.CreatePush(ctx, bob, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Days: &days})
			env.OK(t, err)
			return p
		}
		if _, err := f.AddAccount(ctx, storetest.Operator, email, secret.New("correct horse battery")); err != nil {
			t.Fatal(err)
		}
		signIn := func(password string) {
			if _, err := f.SignIn(ctx, store.Actor{Client: "192.0.2.1"}, email, secret.New(password)); err != nil && !errors.Is(err, record.ErrCredentials) {
				t.Fatal(err)
			}
		}
		old := push(60)
		if _, err := f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); err != nil {
			t.Fatal(err)
		}
		f.Clock.Advance(40 * day)
		push(1)
		push(90)
		signIn("correct horse battery")
		f.Clock.Advance(2 * day)
		f.SweepAll()
		if _, err := f.DeletePush(ctx, storetest.Operator, old.Token); err != nil {
			t.Fatal(err)
		}
		push(1)
		signIn("wrong")
		signIn("correct horse battery")
		got, err := f.Activity(ctx, 5, longest)
		env.OK(t, err)
		if want := f.Clock.Now().UTC().Truncate(day).Add(-4 * day); !got.First.Equal(want) {
			t.Errorf("it begins at %v, not %v", got.First, want)
		}
		for name, c := range map[string][2][]int{
			"created":          {got.Created, {0, 0, 2, 0, 1}},
			"ended":            {got.Ended, {0, 0, 0, 1, 1}},
			"sign-ins":         {got.SignIns, {0, 0, 1, 0, 1}},
			"refused sign-ins": {got.Refused, {0, 0, 0, 0, 1}},
		} {
			if !slices.Equal(c[0], c[1]) {
				t.Errorf("%s: %v, not %v", name, c[0], c[1])
			}
		}
		if all, err := f.Activity(ctx, 60, longest); err != nil || all.Created[17] != 1 {
			t.Errorf("over 60 days: %v, %v", all.Created, err)
		}
	})
}

// Where there is more to read than the bound, there are no numbers in place of wrong ones.
func TestActivityBeyondTheBoundIsNotCounted(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it makes 50,000 events")
	f := storetest.New(t)
	var g errgroup.Group
	g.SetLimit(1000) // which share commits
	for range store.MaxTallied + 1000 {
		g.Go(func() error { return f.NoteReload(ctx, storetest.Operator, false, nil) })
	}
	env.OK(t, g.Wait())
	got, err := f.Activity(ctx, 30, 90*day)
	if err != nil || got.SignIns != nil || got.Refused != nil || len(got.Created) != 30 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A tally counts what an observer is told.
type tally struct {
	mu   sync.Mutex
	told map[string]int
}

func (o *tally) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		o.told = make(map[string]int)
	}
	o.told[fmt.Sprintf(format, args...)]++
}

func (o *tally) Created(k record.Kind) { o.note("created %s", k) }
func (o *tally) Viewed()               { o.note("viewed") }
func (o *tally) Ended(c store.Cause)   { o.note("ended by %s", c) }
func (o *tally) PassphraseFailed()     { o.note("passphrase") }
func (o *tally) Compacted(err error)   { o.note("compacted %v", err) }
func (o *tally) want(t *testing.T, want map[string]int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !maps.Equal(o.told, want) {
		t.Errorf("told %v, want %v", o.told, want)
	}
	o.told = nil
}

// watched is a store that reports the changes of pushes to o.
func watched(t *testing.T) (f *storetest.Fixture, o *tally) {
	t.Helper()
	o = new(tally)
	f = storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return store.Observed(e, o) }
	})
	return f, o
}

func TestAnObserverIsToldWhatBecomesOfPushesAndOnce(t *testing.T) {
	t.Parallel()
	f, o := watched(t)
	ann, one := f.Account("ann@example.com"), 1
	add := func(by store.Actor, in store.NewPush) store.Token {
		t.Helper()
		in.Payload = secret.New("https://example.com")
		p, err := f.CreatePush(t.Context(), by, in)
		env.OK(t, err)
		return p.Token
	}
	show := func(by store.Actor, token store.Token, passphrase string, want error) {
		t.Helper()
		if _, err := f.Retrieve(t.Context(), by, token, secret.New(passphrase), nil); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}

	last := add(anonymous, store.NewPush{Kind: record.Text, Views: &one})
	o.want(t, map[string]int{"created text": 1})
	show(anonymous, last, "", nil)
	o.want(t, map[string]int{"viewed": 1, "ended by views": 1})
	show(anonymous, last, "", nil) // it has expired
	o.want(t, nil)

	locked := add(ann, store.NewPush{Kind: record.URL, Passphrase: secret.New("right")})
	show(anonymous, locked, "wrong", record.ErrPassphrase)
	show(anonymous, locked, "", record.ErrPassphrase) // none was given
	show(ann, locked, "right", nil)                   // the owner's own look
	o.want(t, map[string]int{"created url": 1, "passphrase": 1})
	for range 2 {
		if _, err := f.DeletePush(t.Context(), ann, locked); err != nil {
			t.Fatal(err)
		}
	}
	o.want(t, map[string]int{"ended by deleted": 1})

	add(anonymous, store.NewPush{Kind: record.QR, Days: &one})
	late := add(anonymous, store.NewPush{Kind: record.Text, Days: &one})
	f.Clock.Advance(24*time.Hour - time.Minute)
	f.SweepAll()
	o.want(t, map[string]int{"created qr": 1, "created text": 1})
	f.Clock.Advance(time.Hour)
	show(anonymous, late, "", nil)
	o.want(t, map[string]int{"ended by time": 1})
	f.SweepAll()
	o.want(t, map[string]int{"ended by time": 1})

	add(ann, store.NewPush{Kind: record.Text})
	env.OK(t, f.RemoveAccount(t.Context(), storetest.Operator, "ann@example.com"))
	o.want(t, map[string]int{"created text": 1, "ended by other": 1})
	if _, _, err := f.Compact(t.Context(), storetest.Operator, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	o.want(t, map[string]int{"compacted <nil>": 1})
}

func TestARefusedPushIsNoNewOne(t *testing.T) {
	t.Parallel()
	f, o := watched(t)
	if _, err := f.CreatePush(t.Context(), store.Actor{Account: 77}, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); !errors.Is(err, record.ErrToken) {
		t.Fatal(err)
	}
	o.want(t, nil)
}

func TestStatsTellHowLongTheSweeperIsBehind(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	one := 1
	lag := func() time.Duration {
		t.Helper()
		v, err := f.Stats()
		env.OK(t, err)
		return v.Lag
	}
	if _, err := f.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Days: &one}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ by, want time.Duration }{{0, 0}, {24 * time.Hour, 0}, {time.Minute, time.Minute}} {
		f.Clock.Advance(step.by)
		if got := lag(); got != step.want {
			t.Errorf("after %v more it is %v, not %v", step.by, got, step.want)
		}
	}
	f.SweepAll()
	if got := lag(); got != 0 {
		t.Errorf("after a sweep it is %v", got)
	}
}

func TestAPingIsAnsweredWhileTheStoreWorksAndChangesNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	before, err := f.Engine().KeepTime(t.Context(), time.Time{})
	env.OK(t, err)
	if err := f.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if after, err := f.Engine().KeepTime(t.Context(), time.Time{}); err != nil || !after.Equal(before) {
		t.Errorf("the time kept is %v, was %v; %v", after, before, err)
	}
	env.OK(t, f.Engine().Close())
	f.Abandon()
	if err := f.Ping(t.Context()); !errors.Is(err, record.ErrClosed) {
		t.Error(err)
	}
}

// TestHealthTellsAJumpFromAnAbsence: only in the first creates wait.
func TestHealthTellsAJumpFromAnAbsence(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	wants := func(what string, doubt, away bool) {
		t.Helper()
		st, err := f.Health(ctx)
		if err != nil || st.Doubt != doubt || st.Away != away {
			t.Errorf("%s: %+v, %v", what, st, err)
		}
	}
	wants("at first", false, false)
	f.Clock.Jump(2 * day)
	wants("after a jump", true, false)
	f.Clock.Advance(10 * time.Minute)
	wants("ten minutes later", false, false)
	f.SweepAll() // which writes the time down
	f.Clock.Jump(2 * day)
	f.Reopen()
	wants("after an absence", false, true)
	f.Clock.Advance(10 * time.Minute)
	wants("ten minutes after that", false, false)
}
