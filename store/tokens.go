package store

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// noteEvery is how often the last use of a token or session is written down, at
// most.
const noteEvery = time.Minute

// CreateToken makes an API token for an account; lifetime 0 is for good. Only
// its digest is kept. *InvalidError or ErrNotFound.
func (s *Store) CreateToken(ctx context.Context, email, label string, lifetime time.Duration) (NewAPIToken, error) {
	var bad InvalidError
	if !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		bad.Add("name", "has characters that cannot be shown")
	}
	checkLength("name", len(label), MaxLabel, &bad)
	if lifetime < 0 {
		bad.Add("expires", "is in the past")
	}
	if err := bad.Err(); err != nil {
		return NewAPIToken{}, err
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return NewAPIToken{}, err
	}
	t := NewAPIToken{Secret: seal.NewAPIToken()}
	t.Digest, t.Owner, t.Label, t.CreatedAt = seal.Digest(t.Secret), a.ID, label, s.time.read().now
	if lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(lifetime)
	}
	t.ID, err = s.engine.CreateToken(ctx, t.APIToken)
	return t, err
}

// Tokens lists an account's API tokens, oldest first. ErrNotFound.
func (s *Store) Tokens(ctx context.Context, email string) ([]APIToken, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return nil, err
	}
	return all(func(last *APIToken) ([]APIToken, error) {
		var after TokenID
		if last != nil {
			after = last.ID
		}
		return s.engine.Tokens(ctx, a.ID, after, listBatch)
	})
}

// RevokeToken ends an API token at once. ErrNotFound.
func (s *Store) RevokeToken(ctx context.Context, id TokenID) error {
	return s.engine.RemoveToken(ctx, 0, id)
}

// RevokeOwnToken is RevokeToken for its owner: ErrNotFound also if the token is
// another account's.
func (s *Store) RevokeOwnToken(ctx context.Context, owner AccountID, id TokenID) error {
	if owner == 0 {
		return ErrNotFound
	}
	return s.engine.RemoveToken(ctx, owner, id)
}

// Authenticate returns the account that an API token acts as, and the token's
// record as it was before this use. Where email is not empty, the account must have that address.
// ErrToken if the token is not valid, whatever the reason.
func (s *Store) Authenticate(ctx context.Context, token secret.Text, email string) (Account, APIToken, error) {
	t, a, err := s.engine.Token(ctx, seal.Digest(token))
	at := s.time.read()
	switch {
	case errors.Is(err, ErrNotFound):
		return Account{}, APIToken{}, ErrToken
	case err != nil:
		return Account{}, APIToken{}, err
	case !a.Active(), before(t.ExpiresAt, at.denies), email != "" && !strings.EqualFold(strings.TrimSpace(email), a.Email):
		return Account{}, APIToken{}, ErrToken
	}
	return a, t, noteUse(t.LastUsedAt, at, func() error { return s.engine.TouchToken(ctx, t.Digest, at.now) })
}

// noteUse notes by touch that something was used, unless that is known, the clock
// is in doubt, or there is no room: that is no reason to turn its owner away.
func noteUse(last time.Time, at instant, touch func() error) error {
	if at.now != at.ends || at.now.Sub(last) < noteEvery {
		return nil
	}
	return instead(touch(), ErrFull, nil)
}
