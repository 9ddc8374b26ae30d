package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/seal"
)

// noteEvery is the least time between two records of the last use of a token or
// session.
const noteEvery = time.Minute

// TokensPerAccount is how many API tokens a client can make for its account in an hour.
// To make one and to end it are two events, and no account must push the events of others
// out of the instance log.
const TokensPerAccount = 25

const (
	tokensWindow   = time.Hour
	tokensAccounts = 10_000 // that are remembered
)

// madeTokens bound how many API tokens accounts make.
type madeTokens struct {
	mu  sync.Mutex // between asking and counting
	per *limit.Window
}

func newMadeTokens(c clock.Clock) *madeTokens {
	return &madeTokens{per: limit.NewWindow(TokensPerAccount, tokensWindow, tokensAccounts, c.Elapsed)}
}

// take counts a token of an account, or refuses it.
func (m *madeTokens) take(owner AccountID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := strconv.FormatUint(uint64(owner), 10)
	if full, wait := m.per.Full(key); full {
		return &LockedError{RetryAfter: wait, Limit: LimitTokensPerAccount}
	}
	m.per.Add(key)
	return nil
}

// CreateToken makes an API token for an account; lifetime 0 is for good. Only its
// digest is kept. *InvalidError; ErrNotFound; ErrDenied if the actor may not act for
// that account; a *LockedError if a client made too many.
func (s *Store) CreateToken(ctx context.Context, by Actor, email, label string, lifetime time.Duration) (NewAPIToken, error) {
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
	t.Digest, t.Owner, t.Label, t.CreatedAt = seal.Digest(t.Secret), a.ID, label, s.time.Read().Now
	if lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(lifetime)
	}
	t.ID, err = s.as(by).createToken(ctx, a.Email, t.APIToken)
	return t, err
}

// Tokens lists an account's API tokens, oldest first. ErrNotFound.
func (s *Store) Tokens(ctx context.Context, email string) ([]APIToken, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return nil, err
	}
	return all(func(last APIToken) ([]APIToken, error) { return s.engine.Tokens(ctx, a.ID, last.ID, listBatch) })
}

// RevokeToken ends an API token at once. A client can end those of its own account.
// ErrNotFound.
func (s *Store) RevokeToken(ctx context.Context, by Actor, id TokenID) error {
	return s.as(by).removeToken(ctx, id)
}

// Authenticate returns the account of an API token, and the token's record as it was
// before this use. ErrToken if the token is not valid for any reason.
func (s *Store) Authenticate(ctx context.Context, by Actor, token secret.Text) (Account, APIToken, error) {
	t, a, err := s.engine.Token(ctx, seal.Digest(token))
	at := s.time.Read()
	switch {
	case errors.Is(err, ErrNotFound):
		return Account{}, APIToken{}, s.refused(ctx, by, AdminTokenRefused, Account{}, ErrToken)
	case err != nil:
		return Account{}, APIToken{}, err
	case !a.Active(), before(t.ExpiresAt, at.Denies):
		return Account{}, APIToken{}, s.refused(ctx, by, AdminTokenRefused, a, ErrToken)
	}
	return a, t, noteUse(t.LastUsedAt, at, func() error { return s.engine.TouchToken(ctx, t.Digest, at.Now) })
}

// noteUse calls touch to record a use, unless the last one was recorded recently or the
// clock is in doubt. A full store is no error: its owner must still get in.
func noteUse(last time.Time, at clock.Instant, touch func() error) error {
	if at.Now != at.Ends || at.Now.Sub(last) < noteEvery {
		return nil
	}
	return instead(touch(), ErrFull, nil)
}
