package store_test

import (
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// held tells how many messages wait for a webhook.
func held(t *testing.T, f *storetest.Fixture, id record.HookID) (n int) {
	t.Helper()
	_, to := notices(t, f)
	for _, at := range to {
		if at == uint64(id) {
			n++
		}
	}
	return n
}

// Views of one account's push, whose receiver is gone, must not keep another account
// from being told.
func TestAWebhookThatTakesNothingLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Hooks.Queue = 20 })
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	dead, good := addHook(t, f, "ann@example.com", record.EventView), addHook(t, f, "bob@example.com", record.EventView)
	flood, one := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(100) }), storetest.Push(t, f, bob, nil)
	view := func(p store.PushInfo, times int) {
		t.Helper()
		for range times {
			if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(when string, ofDead, ofGood int) {
		t.Helper()
		if a, b := held(t, f, dead.ID), held(t, f, good.ID); a != ofDead || b != ofGood {
			t.Errorf("%s %d and %d messages wait, not %d and %d", when, a, b, ofDead, ofGood)
		}
	}
	view(flood, 15)
	view(one, 2)
	want("after a flood", 10, 2)
	f.Reopen()
	view(flood, 5)
	want("after a restart", 10, 2)

	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByWebhook, Except: map[uint64]bool{uint64(good.ID): true}, Limit: 4})
	if err != nil || len(due) != 4 {
		t.Fatalf("%d are due, %v", len(due), err)
	}
	for range 2 { // the second time they have ended already
		env.OK(t, f.EndMessages(ctx, due))
	}
	want("when some have ended", 6, 2)
	view(flood, 9)
	want("when it fills up again", 9, 2)
}
