package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// views returns the view history of a push whose time is not over, and fails the test
// where looking at it changed it.
func views(t *testing.T, f *storetest.Fixture, token store.Token) store.ViewHistory {
	t.Helper()
	before, err := f.Preview(ctx, token)
	env.OK(t, err)
	got, err := f.Look(ctx, token)
	env.OK(t, err)
	if after, err := f.Preview(ctx, token); err != nil || after.Seq != before.Seq || !after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("looking changed the push: %v", err)
	}
	return got.Before
}

func TestALookListsTheCountedViewsLatestFirst(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 4, 5, 6, 60} {
		f := storetest.New(t)
		p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Views = ptr(100) })
		var times []time.Time
		for range n {
			f.Clock.Advance(time.Second)
			storetest.Retrieve(t, f, anonymous, p)
			times = append([]time.Time{f.Clock.Now()}, times...)
		}
		got := views(t, f, p.Token)
		if got.Count != n || len(got.Last) != min(n, 5) {
			t.Fatalf("%d views: %+v", n, got)
		}
		for i, at := range got.Last {
			if !at.Equal(times[i]) {
				t.Errorf("%d views: view %d was at %v, not at %v", n, i, at, times[i])
			}
		}
	}
}

// A reveal returns the views before it, and does not count itself among them. The
// owner's is no view.
func TestARevealReturnsTheViewsBeforeIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(3) })
	for i, by := range []store.Actor{anonymous, ann, anonymous, ann, anonymous} {
		f.Clock.Advance(time.Minute)
		var kind record.Kind
		got, err := f.Reveal(ctx, by, p.Token, secret.Text{}, func(k record.Kind, payload int64) error {
			kind = k
			return nil
		})
		if err != nil || got.Payload.IsZero() || kind != p.Kind {
			t.Fatalf("%d: %+v of the kind %v, %v", i, got, kind, err)
		}
		if before := []int{0, 1, 1, 2, 2}[i]; got.Before.Count != before || len(got.Before.Last) != before {
			t.Errorf("%d: %+v", i, got.Before)
		}
	}
	got, err := f.Reveal(ctx, anonymous, p.Token, secret.Text{}, nil)
	if err != nil || got.Live() || got.Before.Count != 3 {
		t.Errorf("when no view is left: %+v, %v", got, err)
	}
	if _, err := f.Reveal(ctx, anonymous, store.Token{}, secret.Text{}, nil); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestViewsAreFoundBehindManyOtherEntries(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, nil)
	storetest.Retrieve(t, f, anonymous, p)
	first := f.Clock.Now()
	for _, looks := range []int{store.PageSize - 3, 1, 1, 1, 2 * store.PageSize} { // to both sides of where reads begin
		f.Clock.Advance(time.Minute)
		for range looks {
			storetest.Retrieve(t, f, ann, p)
		}
		if got := views(t, f, p.Token); got.Count != 1 || len(got.Last) != 1 || !got.Last[0].Equal(first) {
			t.Fatalf("%+v", got)
		}
	}
}

func TestTheViewHistoryOutlivesItsPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	spent := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Views = ptr(1) })
	storetest.Retrieve(t, f, anonymous, spent)
	storetest.Retrieve(t, f, anonymous, spent) // a failed view
	deleted := storetest.Push(t, f, anonymous, nil)
	if _, err := f.DeletePush(ctx, anonymous, deleted.Token); err != nil {
		t.Fatal(err)
	}
	if got := views(t, f, spent.Token); got.Count != 1 || len(got.Last) != 1 {
		t.Errorf("spent: %+v", got)
	}
	if got := views(t, f, deleted.Token); got.Count != 0 || got.Last != nil {
		t.Errorf("deleted: %+v", got)
	}
	f.Clock.Advance(3 * day)
	f.SweepAll()
	for _, token := range []store.Token{spent.Token, store.NewToken(f.Clock.Now()), {}} {
		if got, err := f.Look(ctx, token); !errors.Is(err, record.ErrNotFound) || got.Before.Count != 0 {
			t.Errorf("not there: %+v, %v", got, err)
		}
	}
}

func TestAWrongPassphraseIsNoView(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil); !errors.Is(err, record.ErrPassphrase) {
		t.Fatal(err)
	}
	if got := views(t, f, p.Token); got.Count != 0 || got.Last != nil {
		t.Errorf("%+v", got)
	}
}

// A push that a caller was told is over must not come back by an edit that was
// on its way.
func TestWhatALookFindsOverIsOverForGood(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p, err := f.CreatePush(ctx, alice, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Days: new(1)})
	env.OK(t, err)
	if got, err := f.Look(ctx, p.Token); err != nil || !got.Live() || got.Seq != p.Seq {
		t.Errorf("while it is live: %+v, %v", got.State, err)
	}
	f.Clock.Advance(24 * time.Hour)
	if got, err := f.Look(ctx, p.Token); err != nil || got.State != record.Expired {
		t.Errorf("when it is over: %v, %v", got.State, err)
	}
	if got, err := f.Preview(ctx, p.Token); err != nil || got.State != record.Expired || got.Seq != p.Seq {
		t.Errorf("it is kept as %v, with %d entries, %v", got.State, got.Seq, err)
	}
	if _, err := f.Look(ctx, store.Token{}); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}
