package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// TestAWrongClockAtAStartLocksNoneOutForGood: tries end by the time that passes, whatever
// the clock showed when they were made.
func TestAWrongClockAtAStartLocksNoneOutForGood(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 3 })
	storetest.AddMember(t, f, email)
	signIn := func(password string) error {
		_, err := f.SignIn(ctx, anonymous, email, secret.New(password))
		return err
	}
	f.Clock.Jump(400 * day)
	f.Reopen()
	wrong := func() {
		t.Helper()
		for range 3 {
			if err := signIn("wrong"); !errors.Is(err, record.ErrCredentials) {
				t.Fatal(err)
			}
		}
	}
	wrong()
	f.Clock.Advance(5 * time.Minute)
	f.Clock.Jump(-400 * day)
	f.Clock.Advance(55*time.Minute - time.Millisecond)
	if err := signIn(right); !errors.Is(err, record.ErrLocked) {
		t.Errorf("a moment before an hour: %v", err)
	}
	f.Clock.Advance(time.Millisecond)
	wrong()
	f.Clock.Advance(time.Hour)
	if err := signIn(right); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestAClientIsKnownForAWeekAfterItWasRightLast(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerPush = 3 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) {
		in.Passphrase, in.Views, in.Days = secret.New("right"), new(100), new(30)
	})
	for _, c := range []struct {
		after time.Duration
		err   error
	}{{0, nil}, {6 * day, nil}, {7*day - time.Millisecond, nil}, {7 * day, record.ErrLocked}} {
		f.Clock.Advance(c.after)
		if c.after > 0 {
			wrong(t, f, p, 3)
		}
		if _, err := f.Retrieve(ctx, store.Actor{Client: "192.0.2.1"}, p.Token, secret.New("right"), nil); !errors.Is(err, c.err) {
			t.Errorf("after %v more: %v", c.after, err)
		}
	}
}

// Each of the networks has one try more than it may have, the last of a client that has had
// none.
func TestTriesCountForTheNetworksAroundAClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client, outside string // client: with a place for a number
		most            int
	}{
		{"192.0.2.%d", "192.0.3.1", 8},
		{"2001:db8:1:%x::/64", "2001:db8:1:100::/64", 4},
		{"2001:db8:1:%x00::/64", "2001:db8:2::/64", 16},
	} {
		t.Run(c.client, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerClient, o.Guessing.PerPush = 1, 0 })
			p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
			guess := func(client string, want error) {
				t.Helper()
				_, err := f.Retrieve(ctx, store.Actor{Client: client}, p.Token, secret.New("wrong"), nil)
				if !errors.Is(err, want) {
					t.Errorf("%s: %v", client, err)
				}
			}
			for n := range c.most {
				guess(fmt.Sprintf(c.client, n+1), record.ErrPassphrase)
			}
			guess(fmt.Sprintf(c.client, c.most+1), record.ErrLocked)
			guess(c.outside, record.ErrPassphrase)
			guess(c.outside, record.ErrLocked)
			f.Clock.Advance(time.Minute)
			guess(fmt.Sprintf(c.client, c.most+1), record.ErrPassphrase)
		})
	}
}
