package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// begun begins sessions in the engine, without the time that Argon2 takes.
func begun(t *testing.T, f *storetest.Fixture, owner record.AccountID, first, count int) {
	t.Helper()
	for i := range count {
		one := record.Session{
			Digest:    record.SessionDigest{0: byte(first + i), 1: byte((first + i) >> 8), 31: 1},
			CreatedAt: f.Clock.Now(), LastUsedAt: f.Clock.Now(), ExpiresAt: f.Clock.Now().Add(30 * day),
		}
		told := storetest.Told(f.Engine())
		rule := func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			return a, record.SessionChange{Begin: &one, Most: store.MaxSessions}, told, nil
		}
		if _, err := cold.ChangeAccount(ctx, f.Engine(), owner, record.SessionDigest{}, rule); err != nil {
			t.Fatal(err)
		}
	}
}

// kept counts the sessions of an account in the file, over or not.
func kept(t *testing.T, f *storetest.Fixture, owner record.AccountID) int {
	t.Helper()
	list, err := cold.Sessions(ctx, f.Engine(), owner, 1000)
	env.OK(t, err)
	return len(list)
}

func TestAnAccountHasAHundredSessionsAtMost(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := storetest.AddMember(t, f, email)
	first, second := storetest.SignIn(t, f), storetest.SignIn(t, f)
	begun(t, f, ann.ID, 0, store.MaxSessions-2)
	wantResume(t, f, first, nil)
	third := storetest.SignIn(t, f)
	wantResume(t, f, first, record.ErrSession)
	wantResume(t, f, second, nil)
	wantResume(t, f, third, nil)
	if n := kept(t, f, ann.ID); n != store.MaxSessions {
		t.Errorf("it has %d", n)
	}
}

func TestWhatEndsAllSessionsOfAnAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*storetest.Fixture) error
		want error
	}{
		"disable": {func(f *storetest.Fixture) error { return f.SetDisabled(ctx, storetest.Operator, email, true) }, record.ErrSession},
		"disable and enable": {func(f *storetest.Fixture) error {
			return errors.Join(f.SetDisabled(ctx, storetest.Operator, email, true), f.SetDisabled(ctx, storetest.Operator, email, false))
		}, record.ErrSession},
		"another password": {func(f *storetest.Fixture) error {
			return f.SetPassword(ctx, storetest.Operator, email, secret.New("another long one"), false)
		}, record.ErrSession},
		"the same password": {func(f *storetest.Fixture) error {
			return f.SetPassword(ctx, storetest.Operator, email, secret.New(right), false)
		}, record.ErrSession},
		"removal":      {func(f *storetest.Fixture) error { return f.RemoveAccount(ctx, storetest.Operator, email) }, record.ErrSession},
		"enable":       {func(f *storetest.Fixture) error { return f.SetDisabled(ctx, storetest.Operator, email, false) }, nil},
		"reset of MFA": {func(f *storetest.Fixture) error { return f.ResetFactors(ctx, storetest.Operator, email) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t)
			ann := storetest.AddMember(t, f, email)
			storetest.AddMember(t, f, "bob@example.com")
			a, b := storetest.SignIn(t, f), storetest.SignIn(t, f)
			bob, err := f.SignIn(ctx, anonymous, "bob@example.com", secret.New(right))
			env.OK(t, err)
			env.OK(t, c.do(f))
			wantResume(t, f, a, c.want)
			wantResume(t, f, b, c.want)
			wantResume(t, f, bob, nil)
			if n := kept(t, f, ann.ID); (n == 0) != (c.want != nil) {
				t.Errorf("%d are in the file", n)
			}
		})
	}
}

func TestAnAccountThatIsBeingRemovedHasNoSession(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := storetest.AddMember(t, f, email)
	begun(t, f, ann.ID, 0, 3)
	n := storetest.SignIn(t, f)
	told := storetest.Told(f.Engine())
	rule := func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Removing = true
		return a, record.SessionChange{}, told, nil
	}
	if _, err := cold.ChangeAccount(ctx, f.Engine(), ann.ID, record.SessionDigest{}, rule); err != nil {
		t.Fatal(err)
	}
	wantResume(t, f, n, record.ErrSession)
	f.SweepAll()
	if kept(t, f, ann.ID) != 0 {
		t.Error("sessions are left")
	}
}

func TestTheSweeperRemovesSessionsThatHaveEnded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob, cid := storetest.AddMember(t, f, email), storetest.AddMember(t, f, "bob@example.com"), storetest.AddMember(t, f, "cid@example.com")
	all := func() int { return kept(t, f, ann.ID) + kept(t, f, bob.ID) + kept(t, f, cid.ID) }
	for i, a := range []record.Account{ann, bob, cid} { // more than a batch
		begun(t, f, a.ID, 100*i, 100)
	}
	f.Clock.Advance(6 * time.Hour)
	begun(t, f, ann.ID, 300, 1) // takes the place of one
	f.Clock.Advance(6*time.Hour - time.Millisecond)
	f.SweepAll()
	if n := all(); n != 300 {
		t.Errorf("%d are left a moment before they end", n)
	}
	f.Clock.Advance(time.Millisecond)
	f.SweepAll()
	if n := all(); n != 300 {
		t.Errorf("%d are left: they were looked at a moment ago", n)
	}
	f.Clock.Advance(10*time.Minute - time.Millisecond)
	f.SweepAll()
	if n := all(); n != 1 {
		t.Errorf("%d are left after ten minutes", n)
	}
	f.Clock.Advance(12 * time.Hour)
	f.SweepAll()
	if n := all(); n != 0 {
		t.Errorf("%d are left in the end", n)
	}
}

func TestAClockInDoubtRefusesSessionsAndEndsNone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	f.Clock.Jump(1000 * day)
	wantResume(t, f, n, record.ErrSession)
	if _, err := f.SignIn(ctx, anonymous, email, secret.New(right)); !errors.Is(err, record.ErrClock) {
		t.Errorf("signing in: %v", err)
	}
	f.SweepAll()
	if kept(t, f, ann.ID) != 1 {
		t.Error("a session was removed")
	}
	f.Clock.Jump(-1000 * day)
	if got := wantResume(t, f, n, nil); !got.LastUsedAt.Equal(n.LastUsedAt) {
		t.Errorf("last used at %v", got.LastUsedAt)
	}
	f.Clock.Jump(1000 * day)
	f.SweepAll()
	f.Clock.Advance(10 * time.Minute)
	f.SweepAll()
	if kept(t, f, ann.ID) != 0 {
		t.Error("a jump that is believed ended no session")
	}
}

func TestTheLastUseOfASessionIsNoTimeThatIsInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Sessions.Idle, s.Sessions.MaxAge = 2000*day, 2000*day })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	f.Clock.Jump(1000 * day)
	wantResume(t, f, n, nil)
	f.Clock.Jump(-1000 * day)
	if got := wantResume(t, f, n, nil); !got.LastUsedAt.Equal(n.CreatedAt) {
		t.Errorf("last used at %v", got.LastUsedAt)
	}
}

// Where the clock was wrong at the start of the process, sessions are stamped
// with what it said, and would last until then.
func TestASessionFromAWrongFutureEndsWhenTheClockIsRight(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := storetest.AddMember(t, f, email)
	f.Clock.Jump(400 * day)
	f.Reopen()
	n := storetest.SignIn(t, f)
	wantResume(t, f, n, nil)
	f.Clock.Jump(-day) // still in doubt: a day is what the clock may stray
	wantResume(t, f, n, nil)
	f.Clock.Jump(-time.Millisecond)
	wantResume(t, f, n, record.ErrSession)
	f.Clock.Jump(-399*day + time.Millisecond)
	wantResume(t, f, n, record.ErrSession)
	f.SweepAll()
	if kept(t, f, ann.ID) != 0 {
		t.Error("it is left")
	}
}
