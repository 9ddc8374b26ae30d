package store_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const right = "correct horse battery"

// unhurried lets a client sign in as often as it likes.
func unhurried(s *storetest.Setup) { s.SignIns.PerClient = 0 }

func TestSigningInBeginsASession(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	ann := storetest.AddMember(t, f, email)
	by := store.Actor{Client: "192.0.2.9", IP: "192.0.2.7", UserAgent: "Browser/1.0"}
	secrets := make(map[string]bool)
	for _, address := range []string{email, " ANN@Example.com\n"} {
		n, err := f.SignIn(ctx, by, address, secret.New(right))
		env.OK(t, err)
		now := f.Clock.Now()
		if n.Owner != ann.ID || n.Email != email || n.IP != by.IP || n.UserAgent != by.UserAgent || n.Pending || n.MFA || n.Own ||
			!n.CreatedAt.Equal(now) || !n.LastUsedAt.Equal(now) || !n.ExpiresAt.Equal(now.Add(30*day)) {
			t.Errorf("it is %+v", n)
		}
		secrets[n.Secret.Reveal()] = true
		if n.Secret.Len() != 32 {
			t.Errorf("its secret has %d characters", n.Secret.Len())
		}
		got, err := f.Resume(ctx, n.Secret)
		if err != nil || got.ID != n.ID || got.Email != email || got.IP != by.IP || got.UserAgent != by.UserAgent {
			t.Errorf("it is resumed as %+v, %v", got, err)
		}
	}
	if len(secrets) != 2 {
		t.Error("two sessions have one secret")
	}
}

func TestSigningInIsRefused(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "disabled@example.com")
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, "disabled@example.com", true))
	for name, c := range map[string][2]string{
		"wrong password":         {email, right + "!"},
		"another letter case":    {email, "Correct horse battery"},
		"no password":            {email, ""},
		"no account":             {"bob@example.com", right},
		"no address":             {"", right},
		"disabled account":       {"disabled@example.com", right},
		"disabled and wrong one": {"disabled@example.com", "wrong"},
	} {
		n, err := f.SignIn(ctx, anonymous, c[0], secret.New(c[1]))
		if !errors.Is(err, record.ErrCredentials) || !n.Secret.IsZero() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// It takes as long where it hashes as much, which shows in the memory that it takes. The test is
// not parallel: only the process as a whole knows what it allocates.
func TestAnAddressOfNoAccountTakesAsLong(t *testing.T) {
	f := storetest.New(t, func(o *storetest.Setup) { o.Argon2 = seal.Cost{} })
	storetest.AddMember(t, f, email)
	signIn := func(address string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.SignIn(ctx, anonymous, address, secret.New("wrong")); !errors.Is(err, record.ErrCredentials) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const hash = 19 << 20
	if known, unknown := signIn(email), signIn("bob@example.com"); known < hash || unknown < hash || known/hash != unknown/hash {
		t.Errorf("it takes %d bytes with an account, %d without", known, unknown)
	}
}

func TestAClientIsWrongOnlySoOften(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	try := func(client, password string) error {
		_, err := f.SignIn(ctx, store.Actor{Client: client}, email, secret.New(password))
		return err
	}
	for i, password := range []string{"wrong", right, "wrong", "wrong", right, "wrong", "wrong"} {
		if err := try("a", password); errors.Is(err, record.ErrLocked) {
			t.Fatalf("try %d: %v", i+1, err)
		}
	}
	var locked *record.LockedError
	if err := try("a", right); !errors.As(err, &locked) || locked.RetryAfter != 20*time.Second {
		t.Errorf("after five wrong ones: %v", err)
	}
	if err := try("b", right); err != nil {
		t.Errorf("another client: %v", err)
	}
	f.Clock.Advance(20*time.Second - time.Millisecond)
	if err := try("a", right); !errors.As(err, &locked) || locked.RetryAfter != time.Millisecond {
		t.Errorf("a moment before 20 seconds: %v", err)
	}
	f.Clock.Advance(time.Millisecond)
	if err := try("a", right); err != nil { // what was refused did not count
		t.Errorf("after 20 seconds: %v", err)
	}
}

// An office of 50 people has one address. What one of them guesses is still bounded, and so are
// the sign-ins of one account, each of which is an event.
func TestPeopleBehindOneAddressSignIn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	office := store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}
	signIn := func(n int, password string) error {
		_, err := f.SignIn(ctx, office, fmt.Sprintf("%d@example.com", n), secret.New(password))
		return err
	}
	for n := range 50 {
		storetest.AddMember(t, f, fmt.Sprintf("%d@example.com", n))
	}
	for n := range 50 {
		if err := signIn(n, right); err != nil {
			t.Errorf("person %d: %v", n, err)
		}
	}
	most := 0
	for ; signIn(0, right) == nil; most++ {
	}
	if most != 4+5 { // of the account, and what a client has for all that it tries
		t.Errorf("one account signs in %d times more", most)
	}
	f.Clock.Advance(20 * time.Second)
	for n := range 5 {
		if err := signIn(n, "wrong"); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("guess %d: %v", n+1, err)
		}
	}
	if err := signIn(6, right); !errors.Is(err, record.ErrLocked) {
		t.Errorf("after five guesses: %v", err)
	}
}

// Tries whose outcome is not known yet refuse no other of their client, which waits for them.
func TestPeopleBehindOneAddressSignInAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.SignIns.PerClient = 1 })
	var all sync.WaitGroup
	for n := range 6 {
		address := fmt.Sprintf("%d@example.com", n)
		storetest.AddMember(t, f, address)
		all.Go(func() {
			if _, err := f.SignIn(ctx, anonymous, address, secret.New(right)); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		})
	}
	all.Wait()
}

func TestWrongPasswordsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	for _, address := range []string{email, "unknown@example.com"} { // which of them has an account cannot be told
		f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 3 })
		storetest.AddMember(t, f, email)
		storetest.AddMember(t, f, "bob@example.com")
		try := func(address, password string) error {
			_, err := f.SignIn(ctx, anonymous, address, secret.New(password))
			return err
		}
		for i, typed := range []string{address, " " + address, strings.ToUpper(address)} {
			if err := try(typed, "wrong"); !errors.Is(err, record.ErrCredentials) {
				t.Fatalf("%s: wrong one %d: %v", address, i+1, err)
			}
			f.Clock.Advance(time.Minute)
		}
		var locked *record.LockedError
		for range 2 {
			if err := try(address, right); !errors.As(err, &locked) || locked.RetryAfter != 57*time.Minute {
				t.Errorf("%s: after three wrong ones: %v", address, err)
			}
		}
		if err := try("bob@example.com", right); err != nil {
			t.Errorf("another account: %v", err)
		}
		f.Clock.Advance(57*time.Minute - time.Millisecond)
		if err := try(address, right); !errors.Is(err, record.ErrLocked) {
			t.Errorf("%s: a moment before an hour: %v", address, err)
		}
		f.Clock.Advance(time.Millisecond)
		if err := try(address, right); errors.Is(err, record.ErrLocked) || (err == nil) != (address == email) {
			t.Errorf("%s: after an hour: %v", address, err)
		}
	}
}

func TestRightPasswordsDoNotCountForTheAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 2 })
	storetest.AddMember(t, f, email)
	for range 4 {
		storetest.SignIn(t, f)
	}
	if _, err := f.SignIn(ctx, anonymous, email, secret.New("wrong")); !errors.Is(err, record.ErrCredentials) {
		t.Error(err)
	}
	storetest.SignIn(t, f)
}

func TestManySignInsAtOnceDoNotGetPastTheLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limits store.SignInLimits
		client string // %d is a number of its own for each
		email  string
		want   int32
	}{
		{store.SignInLimits{PerClient: 5, PerAccount: 10}, "c", "%d@example.com", 5},
		{store.SignInLimits{PerClient: 5, PerAccount: 10}, "c%d", email, 10},
		{store.SignInLimits{}, "c", email, 16},
	} {
		f := storetest.New(t, func(s *storetest.Setup) { s.SignIns, s.Guessing.Queue = c.limits, 1000 })
		var tried atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			own := func(form string) string {
				if form == "c%d" || form == "%d@example.com" {
					return fmt.Sprintf(form, i)
				}
				return form
			}
			all.Go(func() {
				_, err := f.SignIn(ctx, store.Actor{Client: own(c.client)}, own(c.email), secret.New("wrong"))
				if errors.Is(err, record.ErrCredentials) {
					tried.Add(1)
				} else if !errors.Is(err, record.ErrLocked) {
					t.Errorf("sign in: %v", err)
				}
			})
		}
		all.Wait()
		if tried.Load() != c.want {
			t.Errorf("%+v: %d were tried, want %d", c.limits, tried.Load(), c.want)
		}
	}
}

func TestChangingThePasswordEndsAllSessionsAndBeginsOne(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	own, other := storetest.SignIn(t, f), storetest.SignIn(t, f)
	bob, err := f.SignIn(ctx, anonymous, "bob@example.com", secret.New(right))
	env.OK(t, err)
	const next = "battery staple horse"
	begun, err := f.ChangePassword(ctx, anonymous, own.Secret, secret.New(right), secret.New(next), false)
	env.OK(t, err)
	for name, c := range map[string]struct {
		session secret.Text
		want    error
	}{"the one that asked": {own.Secret, record.ErrSession}, "the new one": {begun.Secret, nil}, "another": {other.Secret, record.ErrSession}, "another account's": {bob.Secret, nil}} {
		if _, err := f.Resume(ctx, c.session); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept, err := f.Resume(ctx, begun.Secret)
	if info := begun.SessionInfo; err != nil || !kept.ExpiresAt.Equal(info.ExpiresAt) || kept.Email != info.Email || kept.IP != info.IP || kept.UserAgent != info.UserAgent || kept.MFA != info.MFA {
		t.Errorf("%+v was told of %+v, %v", info, kept, err)
	}
	if _, err := f.SignIn(ctx, anonymous, email, secret.New(right)); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("with the old password: %v", err)
	}
	if _, err := f.SignIn(ctx, anonymous, email, secret.New(next)); err != nil {
		t.Errorf("with the new password: %v", err)
	}
}

func TestAPasswordIsNotChanged(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.SignIns.PerAccount = 2 })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	change := func(session secret.Text, old, next string) error {
		_, err := f.ChangePassword(ctx, anonymous, session, secret.New(old), secret.New(next), false)
		return err
	}
	var invalid *record.InvalidError
	if err := change(n.Secret, right, "too short"); !errors.As(err, &invalid) || len(invalid.Fields["password"]) != 1 {
		t.Errorf("a short one: %v", err)
	}
	if err := change(secret.New("unknown"), right, "long enough"); !errors.Is(err, record.ErrSession) {
		t.Errorf("without a session: %v", err)
	}
	for range 2 {
		if err := change(n.Secret, "wrong", "long enough"); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("a wrong old one: %v", err)
		}
	}
	if err := change(n.Secret, right, "long enough"); !errors.Is(err, record.ErrLocked) {
		t.Errorf("after two wrong ones: %v", err)
	}
	other := storetest.SignIn(t, f) // each session has tries of its own
	if err := change(other.Secret, "wrong", "long enough"); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("in another session: %v", err)
	}
	f.Clock.Advance(time.Hour)
	if err := change(n.Secret, right, "long enough"); err != nil {
		t.Errorf("after an hour: %v", err)
	}
}

// The session that begins would hardly ever end.
func TestNoPasswordIsChangedWhileTheClockIsInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, func(s *storetest.Setup) { s.Sessions = store.SessionLimits{} })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	f.Clock.Jump(300 * 24 * time.Hour)
	if _, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New(right), secret.New("long enough"), false); !errors.Is(err, record.ErrClock) {
		t.Errorf("it is changed: %v", err)
	}
	f.Clock.Jump(-300 * 24 * time.Hour)
	wantResume(t, f, n, nil)
}

func TestTheFirstAccountIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	if has, err := f.HasAccounts(ctx); has || err != nil {
		t.Errorf("a new store has accounts: %v, %v", has, err)
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			a, err := f.AddFirstAccount(ctx, storetest.Operator, fmt.Sprintf("%d@example.com", i), secret.New(right))
			if err == nil && a.ID != 0 {
				made.Add(1)
			} else if !errors.Is(err, record.ErrExists) {
				t.Errorf("add: %v", err)
			}
		})
	}
	all.Wait()
	list, err := f.Accounts(ctx)
	if made.Load() != 1 || len(list) != 1 || err != nil {
		t.Errorf("%d were made, %d are there, %v", made.Load(), len(list), err)
	}
	if has, err := f.HasAccounts(ctx); !has || err != nil {
		t.Errorf("there is none: %v", err)
	}
	var invalid *record.InvalidError
	if _, err := f.AddFirstAccount(ctx, storetest.Operator, "no address", secret.New("short")); !errors.As(err, &invalid) {
		t.Errorf("what is wrong is not told: %v", err)
	}
	if _, err := f.SignIn(ctx, anonymous, list[0].Email, secret.New(right)); err != nil {
		t.Errorf("signing in: %v", err)
	}
}

func TestTooManyPasswordsAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	wantRefusals(t, record.ErrCredentials, func(f *storetest.Fixture) func(int) error {
		return func(n int) error {
			_, err := f.SignIn(ctx, anonymous, fmt.Sprintf("%d@example.com", n), secret.New("wrong"))
			return err
		}
	}, func(f *storetest.Fixture) error {
		_, err := f.SignUp(ctx, anonymous, email, secret.New(right))
		return err
	})
}
