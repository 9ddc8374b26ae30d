package store_test

import (
	"errors"
	"testing"

	"pushbox/store"
	"pushbox/store/storetest"
)

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
		if err := f.RevokeOwnToken(ctx, c.owner, c.id); !errors.Is(err, c.want) {
			t.Errorf("token %d by %d: %v, want %v", c.id, c.owner, err, c.want)
		}
	}
	if _, _, err := f.Authenticate(ctx, token.Secret, ""); !errors.Is(err, store.ErrToken) {
		t.Errorf("it is still valid: %v", err)
	}
}
