package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// guessed is a fixture with a push of ann's that has the passphrase "right".
func guessed(t *testing.T, change func(*storetest.Setup)) (f *storetest.Fixture, ann store.Actor, p store.PushInfo) {
	f = storetest.New(t, change)
	ann = f.Account("ann@example.com")
	p = storetest.Push(t, f, ann, func(in *store.NewPush) { in.Passphrase, in.Views = secret.New("right"), new(100) })
	return f, ann, p
}

// wrong gives n wrong passphrases from clients that were never seen.
func wrong(t *testing.T, f *storetest.Fixture, p store.PushInfo, n int) {
	t.Helper()
	for i := range n {
		by := store.Actor{Client: fmt.Sprintf("198.51.%d.%d", i/100, i%100)}
		if _, err := f.Retrieve(ctx, by, p.Token, secret.New("wrong"), nil); !errors.Is(err, record.ErrPassphrase) {
			t.Fatalf("wrong one %d: %v", i+1, err)
		}
	}
}

func TestStrangersDoNotLockOutWhoWasRightBefore(t *testing.T) {
	t.Parallel()
	f, ann, p := guessed(t, func(o *storetest.Setup) { o.Guessing.PerPush = 3 })
	open := func(by store.Actor, passphrase string) (store.PushInfo, error) {
		return f.Retrieve(ctx, by, p.Token, secret.New(passphrase), nil)
	}
	known := store.Actor{Client: "192.0.2.1"}
	seen, err := open(known, "right")
	if err != nil || seen.Mark.IsZero() {
		t.Fatalf("the first time: %v, mark %v", err, seen.Mark)
	}
	wrong(t, f, p, 3)
	moved := store.Actor{Client: "203.0.113.9", Marks: []secret.Text{secret.New("junk"), seen.Mark}}
	for name, c := range map[string]struct {
		by     store.Actor
		locked bool
	}{
		"a stranger":                  {store.Actor{Client: "203.0.113.7"}, true},
		"its neighbour":               {store.Actor{Client: "192.0.2.2"}, true},
		"the same address":            {known, false},
		"its browser, elsewhere":      {moved, false},
		"the owner":                   {ann, false},
		"a browser with another mark": {store.Actor{Client: "203.0.113.8", Marks: []secret.Text{markOfAnother(t, f)}}, true},
	} {
		if _, err := open(c.by, "right"); errors.Is(err, record.ErrLocked) != c.locked || !c.locked && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 5 {
		if _, err := open(moved, "wrong"); !errors.Is(err, record.ErrPassphrase) {
			t.Fatalf("a wrong one: %v", err)
		}
	}
	if _, err := open(moved, "right"); !errors.Is(err, record.ErrLocked) { // it has its own limit
		t.Errorf("after five wrong ones of its own: %v", err)
	}
}

// markOfAnother is the mark of another push.
func markOfAnother(t *testing.T, f *storetest.Fixture) secret.Text {
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	got, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil)
	env.OK(t, err)
	return got.Mark
}

func TestThePauseOfStrangersDoubles(t *testing.T) {
	t.Parallel()
	f, _, p := guessed(t, func(o *storetest.Setup) { o.Guessing.PerPush, o.Guessing.PerClient = 2, 0 })
	for i, pause := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 640} {
		wrong(t, f, p, 2)
		var locked *record.LockedError
		if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); !errors.As(err, &locked) || locked.RetryAfter != pause*time.Minute {
			t.Errorf("round %d: %v, %+v", i+1, err, locked)
		}
		f.Clock.Advance(2*pause*time.Minute - 1) // the window of the next two is twice as long
		f.Clock.Advance(1)
	}
}

func TestTooManyWrongPassphrasesFreezeAPush(t *testing.T) {
	t.Parallel()
	f, ann, p := guessed(t, func(o *storetest.Setup) {
		o.Guessing.PerPush, o.Guessing.PerClient, o.Guessing.PerLife = 0, 0, 5
	})
	seen, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil)
	env.OK(t, err)
	wrong(t, f, p, 4)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); err != nil {
		t.Errorf("after one less: %v", err)
	}
	wrong(t, f, p, 1)
	f.Reopen()
	for name, by := range map[string]store.Actor{"a stranger": {Client: "203.0.113.9"}, "the address of one who was right": anonymous, "the owner": ann} {
		for _, passphrase := range []string{"right", "wrong", ""} {
			if _, err := f.Retrieve(ctx, by, p.Token, secret.New(passphrase), nil); !errors.Is(err, record.ErrFrozen) {
				t.Errorf("%s, %q: %v", name, passphrase, err)
			}
		}
	}
	if _, err := f.Retrieve(ctx, store.Actor{Client: "203.0.113.9", Marks: []secret.Text{seen.Mark}}, p.Token, secret.New("right"), nil); err != nil {
		t.Errorf("a browser that has a mark: %v", err)
	}
	if _, err := f.ThawPush(ctx, anonymous, p.Token); !errors.Is(err, record.ErrDenied) {
		t.Errorf("a stranger thaws it: %v", err)
	}
	for range 2 {
		if thawed, err := f.ThawPush(ctx, ann, p.Token); err != nil || thawed.Frozen {
			t.Errorf("the owner thaws it: %v", err)
		}
	}
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
	wrong(t, f, p, 4)
	want := "creation view " + "failed_passphrase failed_passphrase failed_passphrase failed_passphrase view freeze view thaw view " +
		"failed_passphrase failed_passphrase failed_passphrase failed_passphrase "
	if got := storetest.EntryKinds(t, f, ann, p); got != want {
		t.Errorf("audit log: %s", got)
	}
}

// The sender of a push without an owner thaws it with the code of its receipt. Without one it
// stays frozen until its time is up.
func TestTooManyWrongPassphrasesFreezeAnAnonymousPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerPush, o.Guessing.PerClient, o.Guessing.PerLife = 0, 0, 5 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase, in.Receipt = secret.New("right"), true })
	wrong(t, f, p, 3)
	f.Reopen() // a restart does not forget
	wrong(t, f, p, 1)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); err != nil {
		t.Errorf("after one less: %v", err)
	}
	wrong(t, f, p, 1)
	f.Reopen()
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); !errors.Is(err, record.ErrFrozen) {
		t.Errorf("it is not frozen: %v", err)
	}
	for _, by := range []store.Actor{anonymous, {Account: 77}, {ReceiptCode: secret.New("another")}} {
		if _, err := f.ThawPush(ctx, by, p.Token); !errors.Is(err, record.ErrDenied) {
			t.Errorf("%+v thaws it: %v", by, err)
		}
	}
	sender := store.Actor{ReceiptCode: p.ReceiptCode}
	if thawed, err := f.ThawPush(ctx, sender, p.Token); err != nil || thawed.Frozen {
		t.Errorf("its sender thaws it: %v", err)
	}
	wrong(t, f, p, 4) // they count from 0
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
	wrong(t, f, p, 1)
	f.Clock.Advance(8 * 24 * time.Hour)
	if got, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("right"), nil); err != nil || got.Live() || !got.Payload.IsZero() {
		t.Errorf("after its time it is not over: %v", err)
	}
}

func TestStrangersDoNotLockOutAKnownBrowser(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	if n.Mark.IsZero() {
		t.Fatal("a sign-in gives no mark")
	}
	guess := func(by store.Actor, password string) error {
		_, err := f.SignIn(ctx, by, email, secret.New(password))
		return err
	}
	for i := range 10 {
		if err := guess(store.Actor{Client: fmt.Sprintf("198.51.100.%d", i)}, "wrong"); !errors.Is(err, record.ErrCredentials) {
			t.Fatalf("wrong one %d: %v", i+1, err)
		}
	}
	if err := guess(anonymous, right); !errors.Is(err, record.ErrLocked) {
		t.Errorf("a browser that is not known: %v", err)
	}
	if err := guess(store.Actor{Client: "c", Marks: []secret.Text{markOfAnother(t, f)}}, right); !errors.Is(err, record.ErrLocked) {
		t.Errorf("the mark of a push: %v", err)
	}
	if _, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New("not it"), secret.New("long enough"), false); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a signed-in browser: %v", err)
	}
	browser := store.Actor{Client: "192.0.2.200", Marks: []secret.Text{n.Mark}}
	again, err := f.SignIn(ctx, browser, email, secret.New(right))
	if err != nil || again.Mark.Reveal() != n.Mark.Reveal() {
		t.Errorf("the known browser: %v, or it has another mark", err)
	}
	for range 10 {
		if err := guess(browser, "wrong"); !errors.Is(err, record.ErrCredentials) {
			t.Fatalf("a wrong one of its own: %v", err)
		}
	}
	if err := guess(browser, right); !errors.Is(err, record.ErrLocked) {
		t.Errorf("after ten wrong ones of its own: %v", err)
	}
}

// A client that once knew the password may have many marks, each with tries of its own.
func TestAMarkEndsWithThePasswordAndWithANewFactor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	first := n.Mark
	key, _ := storetest.EnableTOTP(t, f, &n)
	stranger, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New(right), secret.New(right), false)
	if err != nil || !stranger.Mark.IsZero() {
		t.Errorf("a session alone makes a browser that is known: %v, %v", stranger.Mark, err)
	}
	pending := storetest.SignIn(t, f)
	n, err = f.SignInCode(ctx, anonymous, pending.Secret, storetest.Code(t, f, key, 30*time.Second))
	env.OK(t, err)
	second := n.Mark
	const next = "another password"
	n, err = f.ChangePassword(ctx, store.Actor{Client: "192.0.2.200", Marks: []secret.Text{second}}, n.Secret, secret.New(right), secret.New(next), false)
	env.OK(t, err)
	tries := func(m secret.Text, password string) error {
		_, err := f.SignIn(ctx, store.Actor{Client: "192.0.2.200", Marks: []secret.Text{m}}, email, secret.New(password))
		return err
	}
	for range 10 {
		if err := tries(secret.Text{}, "wrong"); !errors.Is(err, record.ErrCredentials) {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]secret.Text{"before the factor": first, "before the password": second} {
		if err := tries(m, next); !errors.Is(err, record.ErrLocked) {
			t.Errorf("a mark from %s: %v", name, err)
		}
	}
	if err := tries(n.Mark, next); err != nil {
		t.Errorf("the browser that changed the password: %v", err)
	}
}

func TestPasswordChangesAreBounded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n, password := storetest.SignIn(t, f), right
	for i := range store.ChangesPerAccount + 1 {
		next := fmt.Sprintf("another password %d", i)
		changed, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New(password), secret.New(next), false)
		if i == store.ChangesPerAccount {
			if !errors.Is(err, record.ErrLocked) {
				t.Errorf("one too many: %v", err)
			}
			break
		}
		if err != nil {
			t.Fatalf("change %d: %v", i+1, err)
		}
		n, password = changed, next
	}
}

func TestNoMarkComesBeforeTheSecondFactor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	full := storetest.SignIn(t, f)
	key, _ := storetest.EnableTOTP(t, f, &full)
	pending := storetest.SignIn(t, f)
	if !pending.Pending || !pending.Mark.IsZero() {
		t.Error("a password alone gives a mark")
	}
	n, err := f.SignInCode(ctx, anonymous, pending.Secret, storetest.Code(t, f, key, 30*time.Second))
	if err != nil || n.Mark.IsZero() {
		t.Errorf("the code gives no mark: %v", err)
	}
}

func TestMarksAreBounded(t *testing.T) {
	t.Parallel()
	var marks []secret.Text
	for i := range 12 {
		marks = store.AddMark(marks, secret.New(fmt.Sprint(i)))
	}
	marks = store.AddMark(marks, secret.New("9"))
	got := ""
	for _, m := range marks {
		got += m.Reveal() + " "
	}
	if got != "9 11 10 8 7 6 5 4 " {
		t.Errorf("the marks are %s", got)
	}
}

func TestSignUpsAreLimitedPerClient(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	for i := range 5 {
		if _, err := f.SignUp(ctx, anonymous, fmt.Sprintf("u%d@example.com", i), secret.New(right)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.SignUp(ctx, anonymous, "u5@example.com", secret.New(right)); !errors.Is(err, record.ErrLocked) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := f.AddAccount(ctx, storetest.Operator, "u5@example.com", secret.New(right)); err != nil {
		t.Errorf("by the operator: %v", err)
	}
	f.Clock.Advance(20 * time.Second)
	if _, err := f.SignUp(ctx, anonymous, "u6@example.com", secret.New(right)); err != nil {
		t.Errorf("after 20 seconds: %v", err)
	}
}
