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
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// noteEvery is the least time between two records of the last use of a token or
// session.
const noteEvery = time.Minute

// TokensPerAccount is how many API tokens a client can make for its account in an hour. Creating
// and revoking a token write an event each: the limit keeps an account from crowding others' events
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
	if err := tokenFits(t.APIToken, a); err != nil {
		return NewAPIToken{}, err
	}
	t.Owner = a.ID
	t.ID, err = s.as(by).createToken(ctx, a.Email, t.APIToken)
	return t, err
}

// CreateOwnToken makes an API token for the account of a session. The password proves that the
// account is the caller's, and so does a second factor if it has one; this uses the factor up. Only
// the token's digest is kept.
//
// Errors: as those of ChangePassword, ErrCredentials also for a wrong factor; ErrTokens; a
// *LockedError also if the account made too many tokens.
func (s *Store) CreateOwnToken(ctx context.Context, by Actor, session, password secret.Text, f Factor, in TokenTerms) (NewAPIToken, error) {
	t, err := s.newToken(in)
	if err != nil {
		return NewAPIToken{}, err
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return NewAPIToken{}, err
	}
	if err := tokenFits(t.APIToken, c.account); err != nil {
		return NewAPIToken{}, err
	}
	made := s.tally(tokensOfAccount, strconv.FormatUint(uint64(c.account.ID), 10), TokensPerAccount, tokensWindow)
	if err := s.tries(ctx, limit.Count, record.LimitTokensPerAccount, []limit.Tally{made}); err != nil {
		return NewAPIToken{}, err
	}
	t.Owner = c.account.ID
	done, err := s.changeOwn(ctx, c, record.AdminTokenCreate, tokenSays(t.APIToken), func(a *record.Account) (record.SessionChange, error) {
		return record.SessionChange{Token: &t.APIToken}, use(a)
	})
	t.ID = done.Token
	return t, err
}

// newToken makes an API token without an account. *InvalidError.
func (s *Store) newToken(in TokenTerms) (NewAPIToken, error) {
	var bad record.InvalidError
	if !utf8.ValidString(in.Label) || strings.ContainsFunc(in.Label, unicode.IsControl) {
		bad.Add("name", "has characters that cannot be shown")
	}
	checkLength("name", len(in.Label), record.MaxLabel, &bad)
	if in.Lifetime < 0 {
		bad.Add("expires", "is in the past")
	}
	if !record.KnownScopes.Has(in.Scopes) {
		bad.Add("scope", "is not known")
	}
	if err := bad.Err(); err != nil {
		return NewAPIToken{}, err
	}
	t := NewAPIToken{Secret: seal.NewAPIToken()}
	t.Digest, t.Label, t.Scopes, t.CreatedAt = seal.Digest(t.Secret), in.Label, cmp.Or(in.Scopes, record.AllScopes), s.time.Read().Now
	if in.Lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(in.Lifetime)
	}
	return t, nil
}

// tokenFits returns an *InvalidError if the account cannot use a scope of the token.
func tokenFits(t record.APIToken, a record.Account) error {
	var bad record.InvalidError
	if t.Scopes.Has(record.ScopeAdmin) && !a.Admin {
		bad.Add("scope", "has admin, and the account is not an administrator")
	}
	return bad.Err()
}

// tokenSays is the detail of the event of a new token: its label, and its scopes unless it has
// all.
func tokenSays(t record.APIToken) string {
	if t.Scopes == record.AllScopes {
		return t.Label
	}
	return strings.TrimSpace(t.Label + " (" + t.Scopes.String() + ")")
}

// Tokens lists an account's API tokens, oldest first. ErrNotFound.
func (s *Store) Tokens(ctx context.Context, email string) ([]record.APIToken, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return nil, err
	}
	return all(func(last record.APIToken) ([]record.APIToken, error) {
		return cold.Tokens(ctx, s.engine, a.ID, last.ID, listBatch)
	})
}

// RevokeToken ends an API token at once. A client can end tokens of its own account. ErrNotFound.
func (s *Store) RevokeToken(ctx context.Context, by Actor, id record.TokenID) error {
	return s.as(by).removeToken(ctx, id)
}

// Authenticate returns the account of an API token, and the token's record as it was
// before this use. ErrToken if the token is not valid for any reason.
func (s *Store) Authenticate(ctx context.Context, by Actor, token secret.Text) (record.Account, record.APIToken, error) {
	t, a, err := cold.Token(ctx, s.engine, seal.Digest(token))
	at := s.time.Read()
	switch {
	case errors.Is(err, record.ErrNotFound):
		return record.Account{}, record.APIToken{}, s.refused(ctx, by, record.AdminTokenRefused, record.Account{}, record.ErrToken)
	case err != nil:
		return record.Account{}, record.APIToken{}, err
	case !a.Active(), record.Before(t.ExpiresAt, at.Denies):
		return record.Account{}, record.APIToken{}, s.refused(ctx, by, record.AdminTokenRefused, a, record.ErrToken)
	}
	return a, t, noteUse(t.LastUsedAt, at, func() error { return cold.TouchToken(ctx, s.engine, t.Digest, at.Now) })
}

// noteUse calls touch to record a use, unless the last one was recorded recently or the clock is in
// doubt. A full store is no error: its owner must still be able to sign in.
func noteUse(last time.Time, at clock.Instant, touch func() error) error {
	if at.Now != at.Ends || at.Now.Sub(last) < noteEvery {
		return nil
	}
	return instead(touch(), record.ErrFull, nil)
}

// TokenTerms are the properties of a new API token.
type TokenTerms struct {
	Label    string
	Lifetime time.Duration // 0: for good
	Scopes   record.Scopes // 0: all
}

// A NewAPIToken is an API token at its creation, the only time that its secret can be
// seen.
type NewAPIToken struct {
	record.APIToken
	Secret secret.Text
}
