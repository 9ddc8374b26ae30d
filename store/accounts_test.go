package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const email = "ann@example.com"

func newToken(t *testing.T, f *storetest.Fixture, lifetime time.Duration) store.NewAPIToken {
	t.Helper()
	token, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Label: "laptop", Lifetime: lifetime})
	env.OK(t, err)
	return token
}

func TestAnAPITokenActsAsItsAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account(email)
	token := newToken(t, f, 0)
	a, got, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret)
	if err != nil || a.ID != ann.Account || a.Email != email || got.Label != "laptop" {
		t.Errorf("it is %+v, %v", got, err)
	}
}

func TestAnAPITokenIsNotValid(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	good := newToken(t, f, 0)
	for name, token := range map[string]secret.Text{
		"unknown":       secret.New("pb_unknown"),
		"empty":         {},
		"a byte longer": secret.New(good.Secret.Reveal() + "a"),
	} {
		if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token); !errors.Is(err, record.ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenEndsWithItsLifetime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	token := newToken(t, f, time.Hour)
	f.Clock.Advance(time.Hour - time.Millisecond)
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); err != nil {
		t.Errorf("it ended too soon: %v", err)
	}
	f.Clock.Advance(time.Millisecond)
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
		t.Errorf("it did not end: %v", err)
	}
}

func TestTheLastUseIsKeptOnceAMinute(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	token := newToken(t, f, 0)
	lastUse := func() time.Time {
		t.Helper()
		list, err := f.Tokens(ctx, email)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return list[0].LastUsedAt
	}
	if !lastUse().IsZero() {
		t.Error("it was used before it was")
	}
	use := func() {
		t.Helper()
		if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); err != nil {
			t.Fatal(err)
		}
	}
	use()
	first := f.Clock.Now()
	f.Clock.Advance(time.Minute - time.Millisecond)
	use()
	if !lastUse().Equal(first) {
		t.Errorf("a moment less than a minute later it is %v", lastUse())
	}
	f.Clock.Advance(time.Millisecond)
	use()
	if !lastUse().Equal(f.Clock.Now()) {
		t.Errorf("a minute later it is %v", lastUse())
	}
}

func TestADisabledAccountCanDoNothingAndItsLinksGoOn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account(email)
	token, p := newToken(t, f, 0), storetest.Push(t, f, ann, nil)
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, email, true))
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
		t.Errorf("its token: %v", err)
	}
	if _, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); !errors.Is(err, record.ErrToken) {
		t.Errorf("a push that was on its way: %v", err)
	}
	if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
		t.Error("its link ended")
	}
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, email, false))
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); err != nil {
		t.Errorf("enabled again: %v", err)
	}
}

func TestARemovedAccountLeavesNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account(email), f.Account("bob@example.com")
	token := newToken(t, f, 0)
	var made []store.PushInfo
	for range 300 {
		made = append(made, storetest.Push(t, f, ann, nil))
	}
	if _, err := f.DeletePush(ctx, ann, made[0].Token); err != nil {
		t.Fatal(err)
	}
	other := storetest.Push(t, f, bob, nil)
	env.OK(t, f.RemoveAccount(ctx, storetest.Operator, email))
	for _, p := range made {
		if isThere(t, f, p) {
			t.Fatal("a push is still there")
		}
	}
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
		t.Errorf("its token: %v", err)
	}
	if !isThere(t, f, other) {
		t.Error("another account's push went too")
	}
	if accounts, err := f.Accounts(ctx); err != nil || len(accounts) != 1 {
		t.Errorf("%v, %v", accounts, err)
	}
	if again := f.Account(email); again.Account == ann.Account {
		t.Error("its ID was given out again")
	}
}

func TestAccountsHaveOneAddressEach(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	if _, err := f.AddAccount(ctx, storetest.Operator, " Ann@Example.com ", secret.New("long enough")); !errors.Is(err, record.ErrExists) {
		t.Errorf("a second one: %v", err)
	}
}

func TestTheBoundsOfAnAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	local := strings.Repeat("a", record.MaxEmail-len("@example.com"))
	for name, c := range map[string]struct {
		email, password string
		bad             bool
	}{
		"shortest password": {"a@example.com", "ten chars!", false},
		"shorter":           {"b@example.com", "nine char", true},
		"ten letters":       {"c@example.com", "éééééééééé", false},
		"longest password":  {"d@example.com", strings.Repeat("x", record.MaxPassword), false},
		"longer":            {"e@example.com", strings.Repeat("x", record.MaxPassword+1), true},
		"not UTF-8":         {"f@example.com", "ten chars!\xff", true},
		"longest address":   {local + "@example.com", "ten chars!", false},
		"longer address":    {local + "a@example.com", "ten chars!", true},
		"no address":        {"ann", "ten chars!", true},
		"with a name":       {"Ann <g@example.com>", "ten chars!", true},
		"empty":             {"", "ten chars!", true},
		"line break":        {"a\nb@example.com", "ten chars!", true},
	} {
		_, err := f.AddAccount(ctx, storetest.Operator, c.email, secret.New(c.password))
		var invalid *record.InvalidError
		if errors.As(err, &invalid) != c.bad || !c.bad && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheBoundsOfAToken(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	for name, c := range map[string]struct {
		label    string
		lifetime time.Duration
		bad      bool
	}{
		"longest label":  {strings.Repeat("x", record.MaxLabel), 0, false},
		"longer label":   {strings.Repeat("x", record.MaxLabel+1), 0, true},
		"line break":     {"a\nb", 0, true},
		"not UTF-8":      {"\xff", 0, true},
		"in the past":    {"", -time.Second, true},
		"in a moment":    {"", time.Millisecond, false},
		"without either": {"", 0, false},
	} {
		_, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Label: c.label, Lifetime: c.lifetime})
		var invalid *record.InvalidError
		if errors.As(err, &invalid) != c.bad || !c.bad && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnknownAccountsAreNotFound(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	_, create := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{})
	_, list := f.Tokens(ctx, email)
	for i, err := range []error{
		create, list,
		f.SetPassword(ctx, storetest.Operator, email, secret.New("long enough"), false),
		f.SetDisabled(ctx, storetest.Operator, email, true),
		f.RemoveAccount(ctx, storetest.Operator, email),
		f.RevokeToken(ctx, storetest.Operator, 1),
	} {
		if !errors.Is(err, record.ErrNotFound) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestLongListsComeWhole(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	const many = 1001
	for n := range many {
		if _, err := cold.CreateAccount(ctx, f.Engine(), record.Account{Email: fmt.Sprint(n)}, storetest.Told(f.Engine())); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.Accounts(ctx)
	seen := make(map[string]bool)
	for _, a := range list {
		seen[fmt.Sprint(a.ID)] = true
	}
	if err != nil || len(list) != many || len(seen) != many {
		t.Errorf("%d, %d different, %v", len(list), len(seen), err)
	}
}

func TestARemovalThatASweepFinishesIsDone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account(email)
	for range 300 {
		storetest.Push(t, f, ann, nil)
	}
	stop := make(chan struct{})
	var sweeps sync.WaitGroup
	sweeps.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := f.Sweep(ctx); err != nil {
				t.Errorf("sweep: %v", err)
			}
		}
	})
	if err := f.RemoveAccount(ctx, storetest.Operator, email); err != nil {
		t.Errorf("remove: %v", err)
	}
	close(stop)
	sweeps.Wait()
	if accounts, err := f.Accounts(ctx); err != nil || len(accounts) != 0 {
		t.Errorf("%d accounts are left, %v", len(accounts), err)
	}
}

func TestTheLastUseIsNoTimeThatIsInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	token := newToken(t, f, 0)
	f.Clock.Jump(1000 * day)
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); err != nil {
		t.Fatal(err)
	}
	f.Clock.Jump(-1000 * day)
	list, err := f.Tokens(ctx, email)
	if err != nil || list[0].LastUsedAt.After(f.Clock.Now()) {
		t.Errorf("last used %v, %v", list[0].LastUsedAt, err)
	}
}

// A keeper is an engine that refuses to remove an account while stuck is set.
type keeper struct {
	record.Engine
	stuck *atomic.Bool
}

func (e keeper) Update(ctx context.Context, change func(record.Tx) error) error {
	return e.Engine.Update(ctx, func(t record.Tx) error { return change(accountTx{t, e.stuck}) })
}

type accountTx struct {
	record.Tx
	stuck *atomic.Bool
}

func (t accountTx) Delete(of *record.Table, r record.Record) error {
	if of == record.Accounts.Table && t.stuck.Load() {
		return record.ErrFull
	}
	return t.Tx.Delete(of, r)
}

// A sweep does not read all accounts each minute, and still finishes what was cut short: at
// once if it began here, also after a restart.
func TestSweepsReadAccountsOnlyForRemovals(t *testing.T) {
	t.Parallel()
	var lists atomic.Int64
	var stuck atomic.Bool
	f := storetest.New(t, func(s *storetest.Setup) {
		count := storetest.CountLists(record.Accounts.Table, &lists)
		s.Wrap = func(e record.Engine) record.Engine { return count(keeper{e, &stuck}) }
	})
	f.Account("bob@example.com")
	f.SweepAll()
	lists.Store(0)
	for range 9 {
		f.Clock.Advance(time.Minute)
		f.SweepAll()
	}
	if n := lists.Load(); n > 0 {
		t.Errorf("accounts were listed %d times", n)
	}
	for name, between := range map[string]func(){"the next sweep": func() {}, "after a restart": f.Reopen} {
		f.Account(email)
		stuck.Store(true)
		if err := f.RemoveAccount(ctx, storetest.Operator, email); !errors.Is(err, record.ErrFull) {
			t.Fatal(err)
		}
		if _, err := f.Sweep(ctx); !errors.Is(err, record.ErrFull) {
			t.Fatal(err)
		}
		stuck.Store(false)
		between()
		f.SweepAll()
		if all, err := f.Accounts(ctx); err != nil || len(all) != 1 {
			t.Errorf("%s: %d accounts are there, %v", name, len(all), err)
		}
	}
}

// A new address that passes for another is refused; one from before remains in use.
func TestAnAddressThatPassesForAnotherIsRefusedAndOneOfBeforeGoesOn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, unhurried)
	storetest.AddMember(t, f, email)
	const odd = "adm\u200b@example.com"
	var bad *record.InvalidError
	_, add := f.AddAccount(ctx, storetest.Operator, odd, secret.New(right))
	_, signUp := f.SignUp(ctx, anonymous, odd, secret.New(right))
	_, invite := f.Invite(ctx, storetest.Operator, odd, false)
	for i, err := range []error{add, signUp, invite, f.RenameAccount(ctx, storetest.Operator, email, odd)} {
		if !errors.As(err, &bad) || bad.Fields["email"] == nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	a, err := f.AccountByEmail(ctx, email)
	env.OK(t, err)
	_, err = cold.ChangeAccount(ctx, f.Engine(), a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Email = odd
		return a, record.SessionChange{}, storetest.Told(f.Engine()), nil
	})
	env.OK(t, err)
	if err := signsIn(f, odd, right); err != nil {
		t.Errorf("the account of before: %v", err)
	}
	r := asks(t, f, store.Actor{Account: a.ID}, nil)
	if found, err := f.FindRequest(ctx, r.Token); err != nil || found.Asker != `adm\u200b@example.com` {
		t.Errorf("senders see %q, %v", found.Asker, err)
	}
}
