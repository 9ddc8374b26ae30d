package store_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestASecondFactorIsAskedFor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	old := storetest.SignIn(t, f)
	key, recovery := storetest.EnableTOTP(t, f, &old)
	if len(recovery) != 10 || !wantResume(t, f, old, nil).MFA {
		t.Errorf("%d recovery codes", len(recovery))
	}
	f.Clock.Advance(time.Minute)
	pending := storetest.SignIn(t, f)
	if !pending.Pending || !pending.MFA || !pending.ExpiresAt.Equal(f.Clock.Now().Add(10*time.Minute)) {
		t.Errorf("it is %+v", pending)
	}
	if !wantResume(t, f, pending, nil).Pending {
		t.Error("it is resumed as one that is not pending")
	}
	f.Clock.Advance(time.Minute)
	by := store.Actor{Client: "c", IP: "192.0.2.44", UserAgent: "Phone"}
	n, err := f.SignInCode(ctx, by, pending.Secret, storetest.Code(t, f, key, 0))
	env.OK(t, err)
	if n.Pending || !n.MFA || n.Secret.Reveal() == pending.Secret.Reveal() || n.ID == pending.ID || n.IP != by.IP || n.UserAgent != by.UserAgent ||
		!n.ExpiresAt.Equal(f.Clock.Now().Add(30*day)) {
		t.Errorf("it is %+v", n)
	}
	wantResume(t, f, n, nil)
	wantResume(t, f, pending, record.ErrSession)
	if _, err := f.SignInCode(ctx, anonymous, pending.Secret, storetest.Code(t, f, key, 30*time.Second)); !errors.Is(err, record.ErrSession) {
		t.Errorf("another code for the pending one: %v", err)
	}
	if list, err := f.Sessions(ctx, old.Secret); err != nil || len(list) != 2 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

func TestAPendingSessionAllowsNothingElse(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	full := storetest.SignIn(t, f)
	key, _ := storetest.EnableTOTP(t, f, &full)
	pending := storetest.SignIn(t, f)
	_, list := f.Sessions(ctx, pending.Secret)
	_, offer := f.NewTOTP(ctx, pending.Secret)
	_, _, again := f.EnableTOTP(ctx, anonymous, pending.Secret, secret.New(right), store.Factor{}, key, storetest.Code(t, f, key, 0))
	_, codes := f.NewRecoveryCodes(ctx, anonymous, pending.Secret, secret.New(right), store.Factor{})
	_, changed := f.ChangePassword(ctx, anonymous, pending.Secret, secret.New(right), secret.New("long enough"), false)
	for i, err := range []error{
		list, offer, again, codes,
		f.EndSession(ctx, store.Actor{}, pending.Secret, full.ID), f.DisableTOTP(ctx, anonymous, pending.Secret, secret.New(right), store.Factor{}),
		changed,
	} {
		if !errors.Is(err, record.ErrSession) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if got, err := f.Sessions(ctx, full.Secret); err != nil || len(got) != 1 {
		t.Errorf("%d sessions are listed, %v", len(got), err)
	}
	if _, err := f.SignInCode(ctx, anonymous, full.Secret, storetest.Code(t, f, key, 30*time.Second)); !errors.Is(err, record.ErrSession) {
		t.Errorf("a code for one that is not pending: %v", err)
	}
	env.OK(t, f.SignOut(ctx, store.Actor{}, pending.Secret))
	wantResume(t, f, pending, record.ErrSession)
	wantResume(t, f, full, nil)
}

func TestPendingSessionsEndSoonAndReplaceNoOther(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	ann := storetest.AddMember(t, f, email)
	full := storetest.SignIn(t, f)
	key, _ := storetest.EnableTOTP(t, f, &full)
	begun(t, f, ann.ID, 0, store.MaxSessions-1)
	first, second := storetest.SignIn(t, f), storetest.SignIn(t, f)
	for range 9 {
		storetest.SignIn(t, f)
	}
	wantResume(t, f, full, nil)
	wantResume(t, f, first, record.ErrSession)
	wantResume(t, f, second, nil)
	if n := kept(t, f, ann.ID); n != store.MaxSessions+10 {
		t.Errorf("%d sessions are kept", n)
	}
	f.Clock.Advance(10*time.Minute - time.Millisecond)
	wantResume(t, f, second, nil)
	f.Clock.Advance(time.Millisecond)
	wantResume(t, f, second, record.ErrSession)
	if _, err := f.SignInCode(ctx, anonymous, second.Secret, storetest.Code(t, f, key, 0)); !errors.Is(err, record.ErrSession) {
		t.Errorf("a code after that: %v", err)
	}
}

func TestACodeIsAcceptedOnceAndOnlyNearItsTime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 0 })
	storetest.AddMember(t, f, email)
	key, _ := storetest.EnableTOTP(t, f, new(storetest.SignIn(t, f)))
	try := func(d time.Duration, want error) {
		t.Helper()
		if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, storetest.Code(t, f, key, d)); !errors.Is(err, want) {
			t.Errorf("at %v: %v, want %v", d, err, want)
		}
	}
	try(0, record.ErrCredentials) // it enabled the second factor
	try(30*time.Second, nil)
	try(30*time.Second, record.ErrCredentials)
	f.Clock.Advance(2 * time.Minute)
	try(-time.Minute, record.ErrCredentials)
	try(time.Minute, record.ErrCredentials)
	try(-30*time.Second, nil)
	try(0, nil)
	try(-30*time.Second, record.ErrCredentials) // of a step before one that was used
	f.Reopen()
	try(0, record.ErrCredentials)
	try(30*time.Second, nil)
}

func TestACodeAtTheSameTimeIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 0 })
	storetest.AddMember(t, f, email)
	key, recovery := storetest.EnableTOTP(t, f, new(storetest.SignIn(t, f)))
	f.Clock.Advance(time.Minute)
	for _, code := range []secret.Text{storetest.Code(t, f, key, 0), recovery[3]} {
		var accepted atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			pending := storetest.SignIn(t, f)
			all.Go(func() {
				_, err := f.SignInCode(ctx, anonymous, pending.Secret, code)
				if err == nil {
					accepted.Add(1)
				} else if !errors.Is(err, record.ErrCredentials) {
					t.Errorf("sign in: %v", err)
				}
			})
		}
		all.Wait()
		if accepted.Load() != 1 {
			t.Errorf("it was accepted %d times", accepted.Load())
		}
	}
}

func TestAPendingSessionBecomesOneSessionOnly(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.Guessing.Queue = 1000 })
	storetest.AddMember(t, f, email)
	_, recovery := storetest.EnableTOTP(t, f, new(storetest.SignIn(t, f)))
	pending := storetest.SignIn(t, f)
	var accepted atomic.Int32
	var all sync.WaitGroup
	for _, code := range recovery {
		all.Go(func() {
			_, err := f.SignInCode(ctx, anonymous, pending.Secret, code)
			if err == nil {
				accepted.Add(1)
			} else if !errors.Is(err, record.ErrSession) {
				t.Errorf("sign in: %v", err)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 {
		t.Errorf("%d sessions began", accepted.Load())
	}
}

func TestARecoveryCodeIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 0 })
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	_, recovery := storetest.EnableTOTP(t, f, new(storetest.SignIn(t, f)))
	bob, err := f.SignIn(ctx, anonymous, "bob@example.com", secret.New(right))
	env.OK(t, err)
	_, others := storetest.EnableTOTP(t, f, &bob)
	forms := []func(string) string{
		func(s string) string { return s },
		strings.ToUpper,
		func(s string) string { return strings.ReplaceAll(s, "-", "") },
		func(s string) string { return " " + strings.ReplaceAll(s, "-", " ") + " " },
	}
	for i, code := range recovery {
		text := forms[i%len(forms)](code.Reveal())
		for _, want := range []error{nil, record.ErrCredentials} {
			if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, secret.New(text)); !errors.Is(err, want) {
				t.Errorf("code %d: %v, want %v", i, err, want)
			}
		}
	}
	for _, text := range []string{others[0].Reveal(), "", "-", "abcd-efgh-ijkl-mno", "abcd-efgh-ijkl-mnopq", recovery[0].Reveal()[:9]} {
		if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, secret.New(text)); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each new password makes a new session, which must not make new tries of the second factor.
func TestANewPasswordGivesNoNewTriesOfTheSecondFactor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 4 })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	key, _ := storetest.EnableTOTP(t, f, &n)
	for i := range 6 {
		want := record.ErrCredentials
		if i >= 4 {
			want = record.ErrLocked
		}
		if _, err := f.NewRecoveryCodes(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: secret.New("12345")}); !errors.Is(err, want) {
			t.Errorf("wrong code %d: %v", i+1, err)
		}
		next, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New(right), secret.New(right), false)
		env.OK(t, err)
		n.Secret = next.Secret
	}
	f.Clock.Advance(time.Hour)
	if _, err := f.NewRecoveryCodes(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: storetest.Code(t, f, key, 0)}); err != nil {
		t.Errorf("after an hour: %v", err)
	}
}

func TestWrongCodesAndPasswordsCountAlike(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 4 })
	storetest.AddMember(t, f, email)
	full := storetest.SignIn(t, f)
	key, _ := storetest.EnableTOTP(t, f, &full)
	pending := storetest.SignIn(t, f)
	wrong, good := secret.New("wrong"), storetest.Code(t, f, key, 30*time.Second)
	all := func(code, password secret.Text) (stranger, signedIn []error) {
		_, byCode := f.SignInCode(ctx, anonymous, pending.Secret, code)
		_, byPassword := f.SignIn(ctx, anonymous, email, password)
		_, codes := f.NewRecoveryCodes(ctx, anonymous, full.Secret, password, store.Factor{})
		return []error{byCode, byPassword}, []error{codes, f.DisableTOTP(ctx, anonymous, full.Secret, password, store.Factor{})}
	}
	expect := func(when string, want error, got ...error) {
		t.Helper()
		for i, err := range got {
			if !errors.Is(err, want) {
				t.Errorf("%s, try %d: %v", when, i+1, err)
			}
		}
	}
	stranger, _ := all(secret.New("12345"), wrong)
	expect("wrong", record.ErrCredentials, stranger...)
	stranger, signedIn := all(secret.New("12345"), wrong)
	expect("wrong again", record.ErrCredentials, append(stranger, signedIn...)...)
	stranger, signedIn = all(good, secret.New(right))
	expect("right, after four wrong ones of strangers", record.ErrLocked, stranger...)
	expect("right, after four wrong ones of the session", record.ErrLocked, signedIn...)
	wantResume(t, f, full, nil) // a session that is signed in stays so
	f.Clock.Advance(time.Hour)
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, storetest.Code(t, f, key, 0)); err != nil {
		t.Errorf("after an hour: %v", err)
	}
}
