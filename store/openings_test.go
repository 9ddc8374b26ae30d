package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

// openings returns those of a push, and fails the test unless asking again tells
// the same: it writes nothing.
func openings(t *testing.T, f *storetest.Fixture, token store.Token) store.Openings {
	t.Helper()
	before, err := f.Preview(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Openings(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := f.Preview(ctx, token); err != nil || after.Seq != before.Seq || !after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("asking changed the push: %v", err)
	}
	return o
}

func TestOpeningsAreTheCountedViewsTheLatestFirst(t *testing.T) {
	t.Parallel()
	for _, views := range []int{0, 1, 4, 5, 6, 60} {
		f := storetest.New(t)
		p := push(t, f, nobody, func(in *store.NewPush) { in.Views = ptr(100) })
		var times []time.Time
		for range views {
			f.Clock.Advance(time.Second)
			retrieve(t, f, nobody, p)
			times = append([]time.Time{f.Clock.Now()}, times...)
		}
		got := openings(t, f, p.Token)
		if got.Count != views || len(got.Last) != min(views, 5) {
			t.Fatalf("%d views: %+v", views, got)
		}
		for i, at := range got.Last {
			if !at.Equal(times[i]) {
				t.Errorf("%d views: opening %d was at %v, not at %v", views, i, at, times[i])
			}
		}
	}
}

func TestOpeningsAreFoundBehindManyOtherEntries(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, nil)
	retrieve(t, f, nobody, p)
	first := f.Clock.Now()
	for _, looks := range []int{store.PageSize - 3, 1, 1, 1, 2 * store.PageSize} { // to both sides of where reads begin
		f.Clock.Advance(time.Minute)
		for range looks {
			retrieve(t, f, ann, p)
		}
		if got := openings(t, f, p.Token); got.Count != 1 || len(got.Last) != 1 || !got.Last[0].Equal(first) {
			t.Fatalf("%+v", got)
		}
	}
}

func TestOpeningsOutliveTheirPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	spent := push(t, f, nobody, func(in *store.NewPush) { in.Views = ptr(1) })
	retrieve(t, f, nobody, spent)
	retrieve(t, f, nobody, spent) // a failed view
	deleted := push(t, f, nobody, nil)
	if _, err := f.DeletePush(ctx, nobody, deleted.Token); err != nil {
		t.Fatal(err)
	}
	if got := openings(t, f, spent.Token); got.Count != 1 || len(got.Last) != 1 {
		t.Errorf("spent: %+v", got)
	}
	if got := openings(t, f, deleted.Token); got.Count != 0 || got.Last != nil {
		t.Errorf("deleted: %+v", got)
	}
	f.Clock.Advance(3 * day)
	f.SweepAll()
	for _, token := range []store.Token{spent.Token, store.NewToken(f.Clock.Now()), {}} {
		if got, err := f.Openings(ctx, token); !errors.Is(err, store.ErrNotFound) || got.Count != 0 {
			t.Errorf("not there: %+v, %v", got, err)
		}
	}
}

func TestAWrongPassphraseIsNoOpening(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := push(t, f, nobody, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	if _, err := f.Retrieve(ctx, nobody, p.Token, secret.New("wrong")); !errors.Is(err, store.ErrPassphrase) {
		t.Fatal(err)
	}
	if got := openings(t, f, p.Token); got.Count != 0 || got.Last != nil {
		t.Errorf("%+v", got)
	}
}

// Whoever says that a push is over must not see it come back by an edit that was
// on its way.
func TestWhatALookFindsOverIsOverForGood(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p, err := f.CreatePush(ctx, alice, store.NewPush{Kind: store.Text, Payload: secret.New("x"), Days: new(1)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Look(ctx, p.Token); err != nil || !got.Live() || got.Seq != p.Seq {
		t.Errorf("while it is live: %+v, %v", got.State, err)
	}
	f.Clock.Advance(24 * time.Hour)
	if got, err := f.Look(ctx, p.Token); err != nil || got.State != store.Expired {
		t.Errorf("when it is over: %v, %v", got.State, err)
	}
	if got, err := f.Preview(ctx, p.Token); err != nil || got.State != store.Expired || got.Seq != p.Seq {
		t.Errorf("it is kept as %v, with %d entries, %v", got.State, got.Seq, err)
	}
	if _, err := f.Look(ctx, store.Token{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}
