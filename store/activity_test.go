package store_test

import (
	"errors"
	"slices"
	"testing"

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
			if err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
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
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := f.Activity(ctx, 30, 90*day)
	if err != nil || got.SignIns != nil || got.Refused != nil || len(got.Created) != 30 {
		t.Errorf("%+v, %v", got, err)
	}
}
