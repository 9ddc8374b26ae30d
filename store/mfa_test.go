package store_test

import (
	"encoding/base32"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestASecondFactorIsOffered(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{"Push & Pull: a+box? 100%": "Push & Pull  a+box? 100%", "": "pushbox"} {
		f := storetest.New(t, func(s *storetest.Setup) { s.Issuer = issuer })
		storetest.AddMember(t, f, email)
		n := storetest.SignIn(t, f)
		setup, err := f.NewTOTP(ctx, n.Secret)
		env.OK(t, err)
		if key, err := base32.StdEncoding.DecodeString(setup.Secret.Reveal()); err != nil || len(key) != 20 {
			t.Errorf("the secret has %d bytes, %v", len(key), err)
		}
		u, err := url.Parse(setup.URL.Reveal())
		env.OK(t, err)
		q := u.Query()
		if u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/"+want+":"+email || q.Get("secret") != setup.Secret.Reveal() ||
			q.Get("issuer") != want || q.Get("algorithm") != "SHA1" || q.Get("digits") != "6" || q.Get("period") != "30" {
			t.Errorf("the URL is %s", setup.URL.Reveal())
		}
		if again, err := f.NewTOTP(ctx, n.Secret); err != nil || again.Secret.Reveal() == setup.Secret.Reveal() {
			t.Errorf("the same is offered twice, %v", err)
		}
		if wantResume(t, f, n, nil).MFA {
			t.Error("what was offered is in use")
		}
	}
}

func TestASecondFactorIsNotEnabled(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	setup, err := f.NewTOTP(ctx, n.Secret)
	env.OK(t, err)
	var invalid *record.InvalidError
	for _, c := range []struct {
		name, secret, code string
		is                 func(error) bool
	}{
		{"a wrong code", setup.Secret.Reveal(), "12345", func(err error) bool { return errors.Is(err, record.ErrCredentials) }},
		{"an old code", setup.Secret.Reveal(), storetest.Code(t, f, setup.Secret, -time.Minute).Reveal(), func(err error) bool { return errors.Is(err, record.ErrCredentials) }},
		{"a short secret", setup.Secret.Reveal()[:24], "123456", func(err error) bool { return errors.As(err, &invalid) }},
	} {
		if _, codes, err := f.EnableTOTP(ctx, anonymous, n.Secret, secret.New(right), store.Factor{}, secret.New(c.secret), secret.New(c.code)); !c.is(err) || codes != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, _, err := f.EnableTOTP(ctx, anonymous, n.Secret, secret.New("wrong wrong wrong"), store.Factor{}, setup.Secret, storetest.Code(t, f, setup.Secret, 0)); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a wrong password: %v", err)
	}
	if storetest.SignIn(t, f).Pending {
		t.Error("it was enabled")
	}
	key, recovery := storetest.EnableTOTP(t, f, &n)
	f.Clock.Advance(time.Minute)
	if _, _, err := f.EnableTOTP(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: recovery[0]}, setup.Secret, storetest.Code(t, f, setup.Secret, 0)); !errors.Is(err, record.ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, storetest.Code(t, f, key, 0)); err != nil {
		t.Errorf("the first one is gone: %v", err)
	}
}

func TestASecondFactorIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*storetest.Fixture, secret.Text, store.Factor) error{
		"by the account": func(f *storetest.Fixture, s secret.Text, given store.Factor) error {
			return f.DisableTOTP(ctx, anonymous, s, secret.New(right), given)
		},
		"by command": func(f *storetest.Fixture, _ secret.Text, _ store.Factor) error {
			return f.ResetFactors(ctx, storetest.Operator, " ANN@example.com")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, unhurried)
			storetest.AddMember(t, f, email)
			n := storetest.SignIn(t, f)
			_, recovery := storetest.EnableTOTP(t, f, &n)
			pending := storetest.SignIn(t, f)
			for range 2 { // the second time there is none, and that is no error
				env.OK(t, off(f, n.Secret, store.Factor{Code: recovery[2]}))
			}
			if wantResume(t, f, n, nil).MFA || storetest.SignIn(t, f).Pending {
				t.Error("it is there")
			}
			if _, err := f.SignInCode(ctx, anonymous, pending.Secret, recovery[0]); !errors.Is(err, record.ErrSession) {
				t.Errorf("a code for a session that was pending: %v", err)
			}
			if _, err := f.NewRecoveryCodes(ctx, anonymous, n.Secret, secret.New(right), store.Factor{}); !errors.Is(err, record.ErrNotFound) {
				t.Errorf("recovery codes: %v", err)
			}
			storetest.EnableTOTP(t, f, &n) // with a code of the same step
			if !storetest.SignIn(t, f).Pending {
				t.Error("it cannot be enabled again")
			}
			if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, recovery[1]); !errors.Is(err, record.ErrCredentials) {
				t.Errorf("a recovery code of before: %v", err)
			}
		})
	}
	f := storetest.New(t)
	if err := f.ResetFactors(ctx, storetest.Operator, email); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("of no account: %v", err)
	}
}

func TestNewRecoveryCodesReplaceTheOld(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	_, old := storetest.EnableTOTP(t, f, &n)
	if codes, err := f.NewRecoveryCodes(ctx, anonymous, n.Secret, secret.New("wrong"), store.Factor{Code: old[1]}); !errors.Is(err, record.ErrCredentials) || codes != nil {
		t.Errorf("with a wrong password: %v", err)
	}
	fresh, err := f.NewRecoveryCodes(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: old[1]})
	if err != nil || len(fresh) != 10 {
		t.Fatalf("%d codes, %v", len(fresh), err)
	}
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, old[0]); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("an old one: %v", err)
	}
	for i, code := range fresh {
		if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, code); err != nil {
			t.Errorf("new one %d: %v", i, err)
		}
	}
}

func TestNoCodeIsJudgedByAClockInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.Sessions = store.SessionLimits{} })
	ann := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	setup, err := f.NewTOTP(ctx, n.Secret)
	env.OK(t, err)
	f.Clock.Jump(2 * day)
	if _, _, err := f.EnableTOTP(ctx, anonymous, n.Secret, secret.New(right), store.Factor{}, setup.Secret, storetest.Code(t, f, setup.Secret, 0)); !errors.Is(err, record.ErrClock) {
		t.Errorf("enable: %v", err)
	}
	f.Clock.Jump(-2 * day)
	storetest.EnableTOTP(t, f, &n)
	// One that does not end soon, as pending sessions do.
	waits := record.Session{Digest: record.SessionDigest(n.Digest), Pending: true, CreatedAt: f.Clock.Now(), LastUsedAt: f.Clock.Now(), Sealed: n.Sealed}
	told := storetest.Told(f.Engine())
	rule := func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		return a, record.SessionChange{Begin: &waits, Most: 1}, told, nil
	}
	env.OK(t, f.SignOut(ctx, store.Actor{}, n.Secret))
	if _, err := cold.ChangeAccount(ctx, f.Engine(), ann.ID, record.SessionDigest{}, rule); err != nil {
		t.Fatal(err)
	}
	f.Clock.Jump(2 * day)
	if _, err := f.SignInCode(ctx, anonymous, n.Secret, secret.New("123456")); !errors.Is(err, record.ErrClock) {
		t.Errorf("sign in: %v", err)
	}
}

// A password alone opened them, and a thief of the password must not stay.
func TestASecondFactorEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	other, own := storetest.SignIn(t, f), storetest.SignIn(t, f)
	storetest.EnableTOTP(t, f, &own)
	if _, err := f.Resume(ctx, other.Secret); !errors.Is(err, record.ErrSession) {
		t.Errorf("another session goes on: %v", err)
	}
	if i, err := f.Resume(ctx, own.Secret); err != nil || !i.MFA {
		t.Errorf("the own session: %+v, %v", i.MFA, err)
	}
}

func TestAnAppIsToldNoMoreOfAServersNameThanACodeCanHold(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{64: 64, 65: 64} {
		f := storetest.New(t, func(s *storetest.Setup) { s.Issuer = strings.Repeat("é", n) })
		storetest.AddMember(t, f, email)
		setup, err := f.NewTOTP(ctx, storetest.SignIn(t, f).Secret)
		env.OK(t, err)
		u, err := url.Parse(setup.URL.Reveal())
		env.OK(t, err)
		if got := u.Query().Get("issuer"); got != strings.Repeat("é", want) {
			t.Errorf("%d characters became %q", n, got)
		}
	}
}
