package cold

import (
	"context"
	"math"
	"time"

	"pushbox/store/record"
)

// CreateToken stores a new API token under a new ID, which it returns. ErrNotFound if there is no
// such account; ErrTokens if it has MaxTokens; ErrExists for a digest in use, which cannot happen
// to random tokens.
func CreateToken(ctx context.Context, e record.TableEngine, a record.APIToken, ev record.AdminEvent) (record.TokenID, error) {
	return update(ctx, e, func(t record.Tx) (record.TokenID, error) {
		if err := t.Reserve(recordWeight); err != nil {
			return 0, err
		}
		if _, err := account(t, a.Owner); err != nil {
			return 0, err
		}
		if _, err := endedTokens(t, a.Owner, record.SessionChange{Token: &a}); err != nil {
			return 0, err
		}
		id, err := addToken(t, a)
		if err != nil {
			return 0, err
		}
		ev.Subject = uint64(id)
		return id, t.Tell(ev)
	})
}

// endedTokens returns the tokens of an account that a change ends. It refuses one that begins
// with the errors of CreateToken.
func endedTokens(v record.View, owner record.AccountID, change record.SessionChange) ([]record.APIToken, error) {
	if change.Token == nil && !change.EndTokens {
		return nil, nil
	}
	all, err := tokensOf(v, owner)
	if err != nil || change.Token == nil {
		return all, err
	}
	_, err = record.Tokens.Get(v, change.Token.Digest[:])
	if err = wantNone(err); err == nil && !change.EndTokens && len(all) >= record.MaxTokens {
		err = record.ErrTokens
	}
	if err != nil || !change.EndTokens {
		return nil, err
	}
	return all, nil
}

func addToken(t record.Tx, a record.APIToken) (record.TokenID, error) {
	n, err := t.Next(record.Tokens.Table)
	if err != nil {
		return 0, err
	}
	a.ID = record.TokenID(n)
	return a.ID, t.Put(record.Tokens.Table, a)
}

// tokensOf returns all tokens of an account, by ID.
func tokensOf(v record.View, owner record.AccountID) ([]record.APIToken, error) {
	return record.Tokens.Owned(v, owner, math.MaxInt)
}

// Token returns a token and its account, or ErrNotFound.
func Token(ctx context.Context, e record.TableEngine, d record.TokenDigest) (a record.APIToken, owner record.Account, err error) {
	return withOwner(ctx, e, record.Tokens, d[:])
}

// Tokens lists an account's tokens by ID, from the first after the given one.
func Tokens(ctx context.Context, e record.TableEngine, owner record.AccountID, after record.TokenID, limit int) ([]record.APIToken, error) {
	r, _ := record.Tokens.Table.Owned(owner, limit)
	r.After = record.PairKey(uint64(owner), uint64(after))
	return read(ctx, e, func(v record.View) ([]record.APIToken, error) { return record.Tokens.List(v, r) })
}

// TouchToken sets when a token was last used, if it still exists.
func TouchToken(ctx context.Context, e record.TableEngine, d record.TokenDigest, at time.Time) error {
	return touch(ctx, e, record.Tokens, d[:], func(a *record.APIToken) { a.LastUsedAt = at })
}

// RemoveToken returns ErrNotFound if the owner has no such token; owner 0 is any account.
func RemoveToken(ctx context.Context, e record.TableEngine, owner record.AccountID, id record.TokenID, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error {
		a, err := record.Tokens.Find(t, record.TokensByID, record.NumberKey(uint64(id)))
		if err == nil && owner != 0 && owner != a.Owner {
			err = record.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := t.Delete(record.Tokens.Table, a); err != nil {
			return err
		}
		ev.Account = a.Owner
		return t.Tell(ev)
	})
}
