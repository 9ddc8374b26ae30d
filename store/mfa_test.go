package store_test

import (
	"encoding/base32"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

// codeAt is the code of a secret at a distance from now.
func codeAt(t *testing.T, f *storetest.Fixture, key secret.Text, d time.Duration) string {
	t.Helper()
	code, err := totp.GenerateCode(key.Reveal(), f.Clock.Now().Add(d))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// enable gives the account of a session a second factor, and returns its secret
// and recovery codes, and has it go on with the session that takes its place. The
// code of now is used up.
func enable(t *testing.T, f *storetest.Fixture, session *store.NewSession) (key secret.Text, recovery []secret.Text) {
	t.Helper()
	setup, err := f.NewTOTP(ctx, session.Secret)
	if err != nil {
		t.Fatal(err)
	}
	old := session.Secret
	*session, recovery, err = f.EnableTOTP(ctx, nobody, old, secret.New(right), setup.Secret, codeAt(t, f, setup.Secret, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Resume(ctx, old); !errors.Is(err, store.ErrSession) || session.Pending || !session.MFA {
		t.Errorf("the session that asked: %v; the new one: %+v", err, session.SessionInfo)
	}
	return setup.Secret, recovery
}

func TestASecondFactorIsOffered(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{"Push & Pull: a+box? 100%": "Push & Pull  a+box? 100%", "": "pushbox"} {
		f := storetest.New(t, func(s *storetest.Setup) { s.Issuer = issuer })
		member(t, f, email)
		n := signIn(t, f)
		setup, err := f.NewTOTP(ctx, n.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if key, err := base32.StdEncoding.DecodeString(setup.Secret.Reveal()); err != nil || len(key) != 20 {
			t.Errorf("the secret has %d bytes, %v", len(key), err)
		}
		u, err := url.Parse(setup.URL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
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
	member(t, f, email)
	n := signIn(t, f)
	setup, err := f.NewTOTP(ctx, n.Secret)
	if err != nil {
		t.Fatal(err)
	}
	var invalid *store.InvalidError
	for _, c := range []struct {
		name, secret, code string
		is                 func(error) bool
	}{
		{"a wrong code", setup.Secret.Reveal(), "12345", func(err error) bool { return errors.Is(err, store.ErrCredentials) }},
		{"an old code", setup.Secret.Reveal(), codeAt(t, f, setup.Secret, -time.Minute), func(err error) bool { return errors.Is(err, store.ErrCredentials) }},
		{"a short secret", setup.Secret.Reveal()[:24], "123456", func(err error) bool { return errors.As(err, &invalid) }},
	} {
		if _, codes, err := f.EnableTOTP(ctx, nobody, n.Secret, secret.New(right), secret.New(c.secret), c.code); !c.is(err) || codes != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, _, err := f.EnableTOTP(ctx, nobody, n.Secret, secret.New("wrong wrong wrong"), setup.Secret, codeAt(t, f, setup.Secret, 0)); !errors.Is(err, store.ErrCredentials) {
		t.Errorf("a wrong password: %v", err)
	}
	if signIn(t, f).Pending {
		t.Error("it was enabled")
	}
	key, _ := enable(t, f, &n)
	f.Clock.Advance(time.Minute)
	if _, _, err := f.EnableTOTP(ctx, nobody, n.Secret, secret.New(right), setup.Secret, codeAt(t, f, setup.Secret, 0)); !errors.Is(err, store.ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := f.SignInCode(ctx, nobody, signIn(t, f).Secret, codeAt(t, f, key, 0)); err != nil {
		t.Errorf("the first one is gone: %v", err)
	}
}

func TestASecondFactorIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*storetest.Fixture, secret.Text) error{
		"by the account": func(f *storetest.Fixture, s secret.Text) error {
			return f.DisableTOTP(ctx, nobody, s, secret.New(right))
		},
		"by command": func(f *storetest.Fixture, _ secret.Text) error { return f.ResetTOTP(ctx, " ANN@example.com") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, unhurried)
			member(t, f, email)
			n := signIn(t, f)
			_, recovery := enable(t, f, &n)
			pending := signIn(t, f)
			for range 2 { // the second time there is none, and that is no error
				if err := off(f, n.Secret); err != nil {
					t.Fatal(err)
				}
			}
			if wantResume(t, f, n, nil).MFA || signIn(t, f).Pending {
				t.Error("it is there")
			}
			if _, err := f.SignInCode(ctx, nobody, pending.Secret, recovery[0].Reveal()); !errors.Is(err, store.ErrSession) {
				t.Errorf("a code for a session that was pending: %v", err)
			}
			if _, err := f.NewRecoveryCodes(ctx, nobody, n.Secret, secret.New(right)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("recovery codes: %v", err)
			}
			enable(t, f, &n) // with a code of the same step
			if !signIn(t, f).Pending {
				t.Error("it cannot be enabled again")
			}
			if _, err := f.SignInCode(ctx, nobody, signIn(t, f).Secret, recovery[1].Reveal()); !errors.Is(err, store.ErrCredentials) {
				t.Errorf("a recovery code of before: %v", err)
			}
		})
	}
	f := storetest.New(t)
	if err := f.ResetTOTP(ctx, email); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of no account: %v", err)
	}
}

func TestNewRecoveryCodesReplaceTheOld(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	member(t, f, email)
	n := signIn(t, f)
	_, old := enable(t, f, &n)
	if codes, err := f.NewRecoveryCodes(ctx, nobody, n.Secret, secret.New("wrong")); !errors.Is(err, store.ErrCredentials) || codes != nil {
		t.Errorf("with a wrong password: %v", err)
	}
	fresh, err := f.NewRecoveryCodes(ctx, nobody, n.Secret, secret.New(right))
	if err != nil || len(fresh) != 10 {
		t.Fatalf("%d codes, %v", len(fresh), err)
	}
	if _, err := f.SignInCode(ctx, nobody, signIn(t, f).Secret, old[0].Reveal()); !errors.Is(err, store.ErrCredentials) {
		t.Errorf("an old one: %v", err)
	}
	for i, code := range fresh {
		if _, err := f.SignInCode(ctx, nobody, signIn(t, f).Secret, code.Reveal()); err != nil {
			t.Errorf("new one %d: %v", i, err)
		}
	}
}

func TestNoCodeIsJudgedByAClockInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.Sessions = store.SessionLimits{} })
	ann := member(t, f, email)
	n := signIn(t, f)
	setup, err := f.NewTOTP(ctx, n.Secret)
	if err != nil {
		t.Fatal(err)
	}
	f.Clock.Jump(2 * day)
	if _, _, err := f.EnableTOTP(ctx, nobody, n.Secret, secret.New(right), setup.Secret, codeAt(t, f, setup.Secret, 0)); !errors.Is(err, store.ErrClock) {
		t.Errorf("enable: %v", err)
	}
	f.Clock.Jump(-2 * day)
	enable(t, f, &n)
	// One that does not end soon, as pending sessions do.
	waits := store.Session{Digest: store.SessionDigest(n.Digest), Pending: true, CreatedAt: f.Clock.Now(), LastUsedAt: f.Clock.Now(), Sealed: n.Sealed}
	rule := func(a store.Account) (store.Account, store.Turnover, error) {
		return a, store.Turnover{Begins: &waits, Most: 1}, nil
	}
	if err := f.SignOut(ctx, n.Secret); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Engine().ChangeAccount(ctx, ann.ID, store.SessionDigest{}, rule); err != nil {
		t.Fatal(err)
	}
	f.Clock.Jump(2 * day)
	if _, err := f.SignInCode(ctx, nobody, n.Secret, "123456"); !errors.Is(err, store.ErrClock) {
		t.Errorf("sign in: %v", err)
	}
}

// A password alone opened them, and whoever stole it must not stay.
func TestASecondFactorEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	member(t, f, email)
	other, own := signIn(t, f), signIn(t, f)
	enable(t, f, &own)
	if _, err := f.Resume(ctx, other.Secret); !errors.Is(err, store.ErrSession) {
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
		member(t, f, email)
		setup, err := f.NewTOTP(ctx, signIn(t, f).Secret)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(setup.URL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Query().Get("issuer"); got != strings.Repeat("é", want) {
			t.Errorf("%d characters became %q", n, got)
		}
	}
}
