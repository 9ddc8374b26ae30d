package store_test

import (
	"errors"
	"testing"
	"time"

	"pushbox/store"
	"pushbox/store/storetest"
)

// An account that makes and ends tokens without rest must not push other events out of the
// instance log. Administrators are not bounded.
func TestAnAccountMakesSoManyTokensInAnHour(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	const other = "bob@example.com"
	ann, bob := f.Account(email), f.Account(other)
	made := func(by store.Actor, whose string) error {
		t.Helper()
		token, err := f.CreateToken(ctx, by, whose, "", 0)
		if err == nil {
			err = f.RevokeToken(ctx, by, token.ID)
		}
		return err
	}
	for n := range store.TokensPerAccount {
		if err := made(ann, email); err != nil {
			t.Fatalf("token %d: %v", n+1, err)
		}
	}
	locked := (*store.LockedError)(nil)
	before := len(eventsAfter(t, f, 0))
	if err := made(ann, email); !errors.As(err, &locked) || locked.Limit != store.LimitTokensPerAccount || locked.RetryAfter != time.Hour {
		t.Errorf("one more: %v, %+v", err, locked)
	}
	if after := len(eventsAfter(t, f, 0)); after != before {
		t.Errorf("what was refused made %d events", after-before)
	}
	if err := errors.Join(made(bob, other), made(storetest.Operator, email)); err != nil {
		t.Errorf("another account, and the operator: %v", err)
	}
	f.Clock.Advance(time.Hour)
	if err := made(ann, email); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestATokenIsRevokedByItsOwnerAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account(email), f.Account("bob@example.com")
	token := newToken(t, f, 0)
	for _, c := range []struct {
		owner store.AccountID
		id    store.TokenID
		want  error
	}{
		{bob.Account, token.ID, store.ErrNotFound},
		{0, token.ID, store.ErrNotFound},
		{ann.Account, token.ID + 1, store.ErrNotFound},
		{ann.Account, token.ID, nil},
		{ann.Account, token.ID, store.ErrNotFound},
	} {
		if err := f.RevokeToken(ctx, store.Actor{Account: c.owner}, c.id); !errors.Is(err, c.want) {
			t.Errorf("token %d by %d: %v, want %v", c.id, c.owner, err, c.want)
		}
	}
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, store.ErrToken) {
		t.Errorf("it is still valid: %v", err)
	}
}
