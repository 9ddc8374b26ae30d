package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// An account that makes and ends tokens without rest must not push other events out of the
// instance log. Administrators are not bounded.
func TestAnAccountMakesSoManyTokensInAnHour(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	made := func() error {
		t.Helper()
		token, err := f.CreateOwnToken(ctx, anonymous, n.Secret, secret.New(right), store.Factor{}, store.TokenTerms{})
		if err == nil {
			err = f.RevokeToken(ctx, storetest.Operator, token.ID)
		}
		return err
	}
	for n := range store.TokensPerAccount {
		if err := made(); err != nil {
			t.Fatalf("token %d: %v", n+1, err)
		}
	}
	locked := (*record.LockedError)(nil)
	before := len(eventsAfter(t, f, 0))
	if err := made(); !errors.As(err, &locked) || locked.Limit != record.LimitTokensPerAccount || locked.RetryAfter != time.Hour {
		t.Errorf("one more: %v, %+v", err, locked)
	}
	if after := len(eventsAfter(t, f, 0)); after != before {
		t.Errorf("what was refused made %d events", after-before)
	}
	if _, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{}); err != nil {
		t.Errorf("the operator: %v", err)
	}
	f.Clock.Advance(time.Hour)
	if err := made(); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestAnAccountHasSoManyTokens(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	f.Account("bob@example.com")
	var last store.NewAPIToken
	for n := range record.MaxTokens {
		var err error
		if last, err = f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Lifetime: time.Minute}); err != nil {
			t.Fatalf("token %d: %v", n+1, err)
		}
	}
	f.Clock.Advance(time.Hour) // expired ones count
	_, full := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{})
	_, other := f.CreateToken(ctx, storetest.Operator, "bob@example.com", store.TokenTerms{})
	if !errors.Is(full, record.ErrTokens) || other != nil {
		t.Errorf("one more: %v; of another account: %v", full, other)
	}
	env.OK(t, f.RevokeToken(ctx, storetest.Operator, last.ID))
	if _, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{}); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

// A session alone makes no token.
func TestATokenOfOnesOwnTakesThePasswordAndTheCode(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	terms := store.TokenTerms{Label: "laptop", Scopes: record.ScopeCreate}
	made := func(password string, code secret.Text) (store.NewAPIToken, error) {
		return f.CreateOwnToken(ctx, anonymous, n.Secret, secret.New(password), store.Factor{Code: code}, terms)
	}
	if _, err := made("wrong", secret.Text{}); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a wrong password: %v", err)
	}
	token, err := made(right, secret.Text{})
	env.OK(t, err)
	if _, kept, err := f.Authenticate(ctx, anonymous, token.Secret); err != nil || kept != token.APIToken || kept.Scopes != record.ScopeCreate {
		t.Errorf("%+v was made, and is %+v, %v", token.APIToken, kept, err)
	}
	if e := eventsAfter(t, f, 0); e[len(e)-1].Kind != record.AdminTokenCreate || e[len(e)-1].Detail != "laptop (create)" || e[len(e)-1].Subject != uint64(token.ID) {
		t.Errorf("the event is %+v", e[len(e)-1])
	}
	key, recovery := storetest.EnableTOTP(t, f, &n)
	for name, code := range map[string]secret.Text{"none": {}, "a wrong one": secret.New("000000"), "that of the enrolment": storetest.Code(t, f, key, 0)} {
		if _, err := made(right, code); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("code: %s: %v", name, err)
		}
	}
	f.Clock.Advance(time.Minute)
	code := storetest.Code(t, f, key, 0)
	if _, err := made("wrong", code); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a wrong password and the code: %v", err)
	}
	for name, c := range map[string]secret.Text{"a code": code, "a recovery code": recovery[0]} {
		if _, err := made(right, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := made(right, c); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}

func TestScopesOfTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]record.Scopes{
		"": record.AllScopes, "create": record.ScopeCreate, "read create": record.ScopeCreate | record.ScopeRead, "create,read,manage": record.AllScopes, "manage, manage": record.ScopeManage,
		"admin": record.ScopeAdmin, "create,read,manage,admin": record.AllScopes | record.ScopeAdmin,
		"x": 0, "create x": 0, "Create": 0, " ": 0, ",": 0,
	} {
		got, ok := record.ParseScopes(text)
		if ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %s, %t", text, got, ok)
		}
		if again, _ := record.ParseScopes(want.String()); ok && again != want {
			t.Errorf("%s becomes %s", want, again)
		}
	}
	f := storetest.New(t)
	f.Account(email)
	if _, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Scopes: (record.AllScopes | record.ScopeAdmin) + 1}); err == nil {
		t.Error("an unknown scope is taken")
	}
	admin := store.TokenTerms{Label: "root", Scopes: record.ScopeAdmin}
	if _, err := f.CreateToken(ctx, storetest.Operator, email, admin); err == nil {
		t.Error("a member gets a token that administers")
	}
	env.OK(t, f.SetAdmin(ctx, storetest.Operator, email, true, false))
	if one, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{}); err != nil || one.Scopes.Has(record.ScopeAdmin) {
		t.Errorf("a token has the scope admin that was not made with it: %s, %v", one.Scopes, err)
	}
	if one, err := f.CreateToken(ctx, storetest.Operator, email, admin); err != nil || one.Scopes != record.ScopeAdmin {
		t.Errorf("a token that administers has the scopes %s, %v", one.Scopes, err)
	}
	if e := eventsAfter(t, f, 0); e[len(e)-1].Detail != "root (admin)" {
		t.Errorf("the event says %q", e[len(e)-1].Detail)
	}
}

func TestANewPasswordEndsTokensIfAsked(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	f.Account("bob@example.com")
	bobs, err := f.CreateToken(ctx, storetest.Operator, "bob@example.com", store.TokenTerms{})
	env.OK(t, err)
	n := storetest.SignIn(t, f)
	for name, set := range map[string]func(bool) error{
		"by its user": func(end bool) (err error) {
			n, err = f.ChangePassword(ctx, anonymous, n.Secret, secret.New(right), secret.New(right), end)
			return err
		},
		"by the operator": func(end bool) error { return f.SetPassword(ctx, storetest.Operator, email, secret.New(right), end) },
	} {
		for _, end := range []bool{false, true} {
			if _, err := f.Resume(ctx, n.Secret); err != nil {
				n = storetest.SignIn(t, f)
			}
			token := newToken(t, f, 0)
			env.OK(t, set(end))
			if _, _, err := f.Authenticate(ctx, anonymous, token.Secret); (err != nil) != end {
				t.Errorf("%s, end %t: %v", name, end, err)
			}
		}
	}
	if _, _, err := f.Authenticate(ctx, anonymous, bobs.Secret); err != nil {
		t.Errorf("that of another account: %v", err)
	}
}

func TestATokenIsRevokedByItsOwnerAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account(email), f.Account("bob@example.com")
	token := newToken(t, f, 0)
	for _, c := range []struct {
		owner record.AccountID
		id    record.TokenID
		want  error
	}{
		{bob.Account, token.ID, record.ErrNotFound},
		{0, token.ID, record.ErrNotFound},
		{ann.Account, token.ID + 1, record.ErrNotFound},
		{ann.Account, token.ID, nil},
		{ann.Account, token.ID, record.ErrNotFound},
	} {
		if err := f.RevokeToken(ctx, store.Actor{Account: c.owner}, c.id); !errors.Is(err, c.want) {
			t.Errorf("token %d by %d: %v, want %v", c.id, c.owner, err, c.want)
		}
	}
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
		t.Errorf("it is still valid: %v", err)
	}
}
