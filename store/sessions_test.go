package store_test

import (
	"context"
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

// wantResume fails the test unless resuming a session gives that error.
func wantResume(t *testing.T, f *storetest.Fixture, n store.NewSession, want error) store.SessionInfo {
	t.Helper()
	info, err := f.Resume(ctx, n.Secret)
	if !errors.Is(err, want) {
		t.Errorf("resume: %v, want %v", err, want)
	}
	return info
}

func TestAnUnknownSession(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	for name, s := range map[string]secret.Text{
		"unknown": secret.New("abcdefghijklmnopqrstuvwxyz234567"), "empty": {}, "longer": secret.New(n.Secret.Reveal() + "a"),
		"its digest": secret.New(string(n.Digest[:])),
	} {
		_, resume := f.Resume(ctx, s)
		_, list := f.Sessions(ctx, s)
		_, code := f.SignInCode(ctx, anonymous, s, secret.New("123456"))
		_, offer := f.NewTOTP(ctx, s)
		_, _, enable := f.EnableTOTP(ctx, anonymous, s, secret.New(right), store.Factor{}, secret.New("secret"), secret.New("123456"))
		_, codes := f.NewRecoveryCodes(ctx, anonymous, s, secret.New(right), store.Factor{})
		_, changed := f.ChangePassword(ctx, anonymous, s, secret.New(right), secret.New("long enough"), false)
		for i, err := range []error{
			resume, list, code, offer, enable, codes,
			f.EndSession(ctx, store.Actor{}, s, n.ID), f.DisableTOTP(ctx, anonymous, s, secret.New(right), store.Factor{}),
			changed,
		} {
			if !errors.Is(err, record.ErrSession) {
				t.Errorf("%s, call %d: %v", name, i, err)
			}
		}
		if err := f.SignOut(ctx, store.Actor{}, s); err != nil {
			t.Errorf("%s: sign out: %v", name, err)
		}
	}
	wantResume(t, f, n, nil)
}

func TestASessionEndsWithoutUse(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	for range 3 { // use keeps it
		f.Clock.Advance(12*time.Hour - time.Millisecond)
		wantResume(t, f, n, nil)
	}
	f.Clock.Advance(12 * time.Hour)
	wantResume(t, f, n, record.ErrSession)
}

func TestASessionEndsHoweverMuchItIsUsed(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	for range 30*4 - 1 {
		f.Clock.Advance(6 * time.Hour)
		wantResume(t, f, n, nil)
	}
	f.Clock.Advance(6*time.Hour - time.Millisecond)
	wantResume(t, f, n, nil)
	f.Clock.Advance(time.Millisecond)
	wantResume(t, f, n, record.ErrSession)
}

func TestWithoutLimitsASessionLasts(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Sessions = store.SessionLimits{} })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	f.Clock.Advance(1000 * day)
	f.SweepAll()
	wantResume(t, f, n, nil)
}

func TestTheLastUseOfASessionIsKeptOnceAMinute(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	start := f.Clock.Now()
	for _, step := range []struct{ advance, used time.Duration }{
		{time.Minute - time.Millisecond, 0},
		{0, 0},
		{time.Millisecond, 0}, // and now it is written down
		{time.Second, time.Minute},
		{time.Minute, time.Minute},
		{0, 2*time.Minute + time.Second},
	} {
		f.Clock.Advance(step.advance)
		if got := wantResume(t, f, n, nil); !got.LastUsedAt.Equal(start.Add(step.used)) {
			t.Errorf("after %v: last used at %v", f.Clock.Now().Sub(start), got.LastUsedAt.Sub(start))
		}
	}
}

func TestSigningOutEndsASessionForGood(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n, other := storetest.SignIn(t, f), storetest.SignIn(t, f)
	for range 2 {
		if err := f.SignOut(ctx, store.Actor{}, n.Secret); err != nil {
			t.Error(err)
		}
		wantResume(t, f, n, record.ErrSession)
	}
	wantResume(t, f, other, nil)
	f.Reopen()
	wantResume(t, f, n, record.ErrSession)
	wantResume(t, f, other, nil)
}

func TestSessionsAreListedForTheirAccountAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	first := storetest.SignIn(t, f)
	f.Clock.Advance(8 * time.Hour)
	second, err := f.SignIn(ctx, store.Actor{IP: "2001:db8::1", UserAgent: "Other/2"}, email, secret.New(right))
	env.OK(t, err)
	bob, err := f.SignIn(ctx, anonymous, "bob@example.com", secret.New(right))
	env.OK(t, err)
	list, err := f.Sessions(ctx, second.Secret)
	if err != nil || len(list) != 2 || list[0].ID != second.ID || list[1].ID != first.ID || !list[0].Own || list[1].Own ||
		list[0].IP != "2001:db8::1" || list[0].UserAgent != "Other/2" || list[1].Email != email {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := f.Sessions(ctx, bob.Secret); err != nil || len(list) != 1 || list[0].ID != bob.ID || !list[0].Own {
		t.Errorf("of another account: %+v, %v", list, err)
	}
	f.Clock.Advance(4 * time.Hour) // the first was not used for too long, and is still there
	if list, err := f.Sessions(ctx, second.Secret); err != nil || len(list) != 1 || list[0].ID != second.ID {
		t.Errorf("after one has ended: %+v, %v", list, err)
	}
}

func TestASessionIsEndedByItsAccountAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	first, second := storetest.SignIn(t, f), storetest.SignIn(t, f)
	bob, err := f.SignIn(ctx, anonymous, "bob@example.com", secret.New(right))
	env.OK(t, err)
	for _, c := range []struct {
		by, ends store.NewSession
		want     error
	}{
		{bob, first, record.ErrNotFound},
		{second, bob, record.ErrNotFound},
		{second, first, nil},
		{second, first, record.ErrNotFound},
		{first, second, record.ErrSession},
		{second, second, nil},
		{second, second, record.ErrSession},
	} {
		if err := f.EndSession(ctx, store.Actor{}, c.by.Secret, c.ends.ID); !errors.Is(err, c.want) {
			t.Errorf("session %d by %d: %v, want %v", c.ends.ID, c.by.ID, err, c.want)
		}
	}
	wantResume(t, f, bob, nil)
}

func TestDamageIsTold(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	ann := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	told := storetest.Told(f.Engine())
	alter := func(r record.AccountRule) {
		t.Helper()
		if _, err := cold.ChangeAccount(ctx, f.Engine(), ann.ID, record.SessionDigest{}, r); err != nil {
			t.Fatal(err)
		}
	}
	begun(t, f, ann.ID, 0, 1) // with an origin that does not open
	if _, err := f.Sessions(ctx, n.Secret); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("the list: %v", err)
	}
	alter(func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.TOTP = "not sealed"
		return a, record.SessionChange{}, told, nil
	})
	pending := storetest.SignIn(t, f)
	if _, err := f.SignInCode(ctx, anonymous, pending.Secret, secret.New("123456")); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("the second factor: %v", err)
	}
	alter(func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.PasswordHash = "no hash"
		return a, record.SessionChange{}, told, nil
	})
	if _, err := f.SignIn(ctx, anonymous, email, secret.New(right)); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("the password: %v", err)
	}
}

// A crammed engine has no room to note a use, or says what else is wrong.
type crammed struct {
	record.Engine
	err error
}

func (e *crammed) Touch(context.Context, *record.Table, [][]byte, func(record.Record) (record.Record, error)) (int, error) {
	return 0, e.err
}

func TestASessionIsResumedWithoutRoomToNoteIt(t *testing.T) {
	t.Parallel()
	engine := &crammed{}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { engine.Engine = e; return engine }
	})
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	f.Clock.Advance(time.Minute)
	for err, want := range map[error]error{record.ErrFull: nil, record.ErrFailed: record.ErrFailed} {
		engine.err = err
		wantResume(t, f, n, want)
	}
}

// An unstamped engine says why it keeps no time.
type unstamped struct {
	record.Engine
	err error
}

func (e *unstamped) KeepTime(ctx context.Context, at time.Time) (time.Time, error) {
	if e.err != nil {
		return time.Time{}, e.err
	}
	return e.Engine.KeepTime(ctx, at)
}

// A full disk is no reason for a stop to fail: what found no room is not needed. The fixture
// closes the store, and fails the test if that is an error.
func TestAStoreClosesWithoutRoom(t *testing.T) {
	t.Parallel()
	engine := &unstamped{}
	storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { engine.Engine = e; return engine }
	})
	engine.err = record.ErrFull
}
