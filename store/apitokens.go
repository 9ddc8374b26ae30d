package store

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
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

const tokensWindow = time.Hour

// CreateToken makes an API token for an account. Only its digest is kept.
// *InvalidError; ErrNotFound; ErrTokens; ErrDenied for a client.
func (s *Store) CreateToken(ctx context.Context, by Actor, email string, in TokenTerms) (NewAPIToken, error) {
	t, err := s.newToken(in)
	if err != nil {
		return NewAPIToken{}, err
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return NewAPIToken{}, err
	}
	if err := t.fits(a); err != nil {
		return NewAPIToken{}, err
	}
	t.Owner = a.ID
	t.ID, err = s.as(by).createToken(ctx, a.Email, t.APIToken)
	return t, err
}

// CreateOwnToken makes an API token for the account of a session. The password proves
// that the account is the caller's, and so does a second factor if it has one; that is
// then used up. Only the token's digest is kept.
//
// Errors: as those of ChangePassword, ErrCredentials also for a wrong factor; ErrTokens; a
// *LockedError also if the account made too many tokens.
func (s *Store) CreateOwnToken(ctx context.Context, by Actor, session, password secret.Text, f Factor, in TokenTerms) (NewAPIToken, error) {
	t, err := s.newToken(in)
	if err != nil {
		return NewAPIToken{}, err
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, Account.MFA)
	if err != nil {
		return NewAPIToken{}, err
	}
	if err := t.fits(c.account); err != nil {
		return NewAPIToken{}, err
	}
	made := s.tally(tokensOfAccount, strconv.FormatUint(uint64(c.account.ID), 10), TokensPerAccount, tokensWindow)
	if err := s.countTry(ctx, LimitTokensPerAccount, []limit.Tally{made}); err != nil {
		return NewAPIToken{}, err
	}
	t.Owner = c.account.ID
	done, err := s.changeOwn(ctx, c, AdminTokenCreate, t.says(), func(a *Account) (SessionChange, error) {
		return SessionChange{Token: &t.APIToken}, use(a)
	})
	t.ID = done.Token
	return t, err
}

// newToken makes an API token of no account. *InvalidError.
func (s *Store) newToken(in TokenTerms) (NewAPIToken, error) {
	var bad InvalidError
	if !utf8.ValidString(in.Label) || strings.ContainsFunc(in.Label, unicode.IsControl) {
		bad.Add("name", "has characters that cannot be shown")
	}
	checkLength("name", len(in.Label), MaxLabel, &bad)
	if in.Lifetime < 0 {
		bad.Add("expires", "is in the past")
	}
	if !knownScopes.Has(in.Scopes) {
		bad.Add("scope", "is not known")
	}
	if err := bad.Err(); err != nil {
		return NewAPIToken{}, err
	}
	t := NewAPIToken{Secret: seal.NewAPIToken()}
	t.Digest, t.Label, t.Scopes, t.CreatedAt = seal.Digest(t.Secret), in.Label, cmp.Or(in.Scopes, AllScopes), s.time.Read().Now
	if in.Lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(in.Lifetime)
	}
	return t, nil
}

// fits returns an *InvalidError if the account can do nothing with a scope of the token.
func (t APIToken) fits(a Account) error {
	var bad InvalidError
	if t.Scopes.Has(ScopeAdmin) && !a.Admin {
		bad.Add("scope", "has admin, and the account is not an administrator's")
	}
	return bad.Err()
}

// says is the detail of the event of a new token: its label, and its scopes unless it has
// all.
func (t APIToken) says() string {
	if t.Scopes == AllScopes {
		return t.Label
	}
	return strings.TrimSpace(t.Label + " (" + t.Scopes.String() + ")")
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
