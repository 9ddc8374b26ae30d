package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"pushbox/store"
)

// CreateToken keeps a new API token under a new ID, which it returns. Beside
// the documented errors it returns store.ErrExists for a digest that is taken,
// which no two tokens have.
func (db *DB) CreateToken(ctx context.Context, a store.APIToken) (id store.TokenID, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		if !t.has(accounts, uint64Key(uint64(a.Owner))) {
			return store.ErrNotFound
		}
		if t.has(tokens, a.Digest[:]) {
			return store.ErrExists
		}
		id, err = t.createToken(a)
		return err
	})
	return id, err
}

func (t *tx) createToken(a store.APIToken) (store.TokenID, error) {
	n, err := t.nextID(tokens)
	if err != nil {
		return 0, err
	}
	a.ID = store.TokenID(n)
	if err := t.putToken(a); err != nil {
		return 0, err
	}
	digest := bytes.Clone(a.Digest[:])
	if err := t.put(tokenIDs, uint64Key(n), digest); err != nil {
		return 0, err
	}
	return a.ID, t.put(tokenOwners, tokenOwnerKey(a.Owner, a.ID), digest)
}

// Token returns the token with that digest and its account, or
// store.ErrNotFound.
func (db *DB) Token(ctx context.Context, d store.TokenDigest) (a store.APIToken, owner store.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		if a, err = t.token(d[:]); err != nil {
			return err
		}
		owner, err = t.account(a.Owner)
		return err
	})
	if err != nil {
		return store.APIToken{}, store.Account{}, err
	}
	return a, owner, nil
}

// Tokens lists an account's tokens by ID, from the first after the one given.
func (db *DB) Tokens(ctx context.Context, owner store.AccountID, after store.TokenID, limit int) (list []store.APIToken, err error) {
	err = db.view(ctx, func(t *tx) error {
		c := t.cursor(tokenOwners)
		prefix, first := uint64Key(uint64(owner)), tokenOwnerKey(owner, after)
		k, digest := c.Seek(first)
		if bytes.Equal(k, first) {
			k, digest = c.Next()
		}
		for ; bytes.HasPrefix(k, prefix) && len(list) < limit; k, digest = c.Next() {
			a, err := t.token(digest)
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// TouchToken sets when the token was last used, if it still exists.
func (db *DB) TouchToken(ctx context.Context, d store.TokenDigest, at time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		stored := t.get(tokens, d[:])
		if stored == nil {
			return nil
		}
		var a store.APIToken
		if err := decode(&a, tokens, stored); err != nil {
			return err
		}
		a.LastUsedAt = at
		record, err := encode(t, a)
		if err != nil || bytes.Equal(record, stored) {
			return err
		}
		return t.put(tokens, d[:], record)
	})
}

// RemoveToken forgets a token; store.ErrNotFound if there is none, or it is not
// the owner's. Owner 0 stands for whoever it is.
func (db *DB) RemoveToken(ctx context.Context, owner store.AccountID, id store.TokenID) error {
	return db.do(ctx, 0, func(t *tx) error {
		digest := t.get(tokenIDs, uint64Key(uint64(id)))
		if digest == nil {
			return store.ErrNotFound
		}
		a, err := t.token(digest)
		if err != nil {
			return err
		}
		if owner != 0 && owner != a.Owner {
			return store.ErrNotFound
		}
		return t.removeToken(tokenOwnerKey(a.Owner, a.ID), digest)
	})
}

// removeToken removes the rows of the token that a row of tokenOwners tells of.
func (t *tx) removeToken(row, digest []byte) error {
	if len(digest) != digestLen {
		return fmt.Errorf("%w: %s: a digest of %d bytes", store.ErrCorrupt, tokenOwners, len(digest))
	}
	row, digest = bytes.Clone(row), bytes.Clone(digest)
	if err := t.delete(tokenOwners, row); err != nil {
		return err
	}
	if err := t.delete(tokenIDs, row[8:]); err != nil {
		return err
	}
	return t.delete(tokens, digest)
}

func (t *tx) token(digest []byte) (a store.APIToken, err error) {
	v := t.get(tokens, digest)
	if v == nil {
		return a, store.ErrNotFound
	}
	return a, decode(&a, tokens, v)
}

func (t *tx) putToken(a store.APIToken) error {
	record, err := encode(t, a)
	if err != nil {
		return err
	}
	return t.put(tokens, a.Digest[:], record)
}
