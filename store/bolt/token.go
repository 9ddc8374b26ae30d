package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"pushbox/store/record"
)

// CreateToken keeps a new API token under a new ID, which it returns. Beside the
// documented errors it returns record.ErrExists for a digest in use, which cannot happen
// to random tokens.
func (db *DB) CreateToken(ctx context.Context, a record.APIToken, e record.AdminEvent) (record.TokenID, error) {
	return changed(ctx, db, func(t *tx) (record.TokenID, error) {
		if !t.has(accounts, uint64Key(uint64(a.Owner))) {
			return 0, record.ErrNotFound
		}
		n, err := t.createToken(a)
		if err != nil {
			return 0, err
		}
		e.Subject = n
		return record.TokenID(n), t.addEvent(e)
	})
}

// createToken decides before it writes, and returns the new token's ID.
func (t *tx) createToken(a record.APIToken) (uint64, error) {
	if t.has(tokens, a.Digest[:]) {
		return 0, record.ErrExists
	}
	if t.countPrefix(tokenOwners, uint64Key(uint64(a.Owner))) >= record.MaxTokens {
		return 0, record.ErrTokens
	}
	n, err := t.nextID(tokens)
	if err != nil {
		return 0, err
	}
	a.ID = record.TokenID(n)
	if err := putRecord(t, tokens, a.Digest[:], a); err != nil {
		return 0, err
	}
	digest := bytes.Clone(a.Digest[:])
	if err := t.put(tokenIDs, uint64Key(n), digest); err != nil {
		return 0, err
	}
	return n, t.put(tokenOwners, tokenOwnerKey(a.Owner, a.ID), digest)
}

// countPrefix counts the rows whose key begins with prefix.
func (t *tx) countPrefix(b bucket, prefix []byte) (n int) {
	c := t.cursor(b)
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		n++
	}
	return n
}

// Token returns the token with that digest and its account, or
// record.ErrNotFound.
func (db *DB) Token(ctx context.Context, d record.TokenDigest) (a record.APIToken, owner record.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		if a, err = t.token(d[:]); err != nil {
			return err
		}
		owner, err = t.account(a.Owner)
		return err
	})
	if err != nil {
		return record.APIToken{}, record.Account{}, err
	}
	return a, owner, nil
}

// Tokens lists an account's tokens by ID, from the first after the one given.
func (db *DB) Tokens(ctx context.Context, owner record.AccountID, after record.TokenID, limit int) ([]record.APIToken, error) {
	return viewed(ctx, db, func(t *tx) (list []record.APIToken, err error) {
		c := t.cursor(tokenOwners)
		prefix, first := uint64Key(uint64(owner)), tokenOwnerKey(owner, after)
		k, digest := c.Seek(first)
		if bytes.Equal(k, first) {
			k, digest = c.Next()
		}
		for ; bytes.HasPrefix(k, prefix) && len(list) < limit; k, digest = c.Next() {
			a, err := t.token(digest)
			if err != nil {
				return nil, err
			}
			list = append(list, a)
		}
		return list, nil
	})
}

// TouchToken sets when the token was last used, if it still exists.
func (db *DB) TouchToken(ctx context.Context, d record.TokenDigest, at time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		stored := t.get(tokens, d[:])
		if stored == nil {
			return nil
		}
		var a record.APIToken
		if err := decode(&a, tokens, stored); err != nil {
			return err
		}
		a.LastUsedAt = at
		raw, err := encode(t, a)
		if err != nil || bytes.Equal(raw, stored) {
			return err
		}
		return t.put(tokens, d[:], raw)
	})
}

// RemoveToken removes a token; record.ErrNotFound if there is none, or owner is neither
// 0 nor its owner.
func (db *DB) RemoveToken(ctx context.Context, owner record.AccountID, id record.TokenID, e record.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error {
		digest := t.get(tokenIDs, uint64Key(uint64(id)))
		if digest == nil {
			return record.ErrNotFound
		}
		a, err := t.token(digest)
		if err != nil {
			return err
		}
		if owner != 0 && owner != a.Owner {
			return record.ErrNotFound
		}
		if err := t.removeToken(tokenOwnerKey(a.Owner, a.ID), digest); err != nil {
			return err
		}
		e.Account = a.Owner
		return t.addEvent(e)
	})
}

// removeToken removes a token with its index rows: row is that in tokenOwners.
func (t *tx) removeToken(row, digest []byte) error {
	if len(digest) != digestLen {
		return fmt.Errorf("%w: %s: a digest of %d bytes", record.ErrCorrupt, tokenOwners, len(digest))
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

func (t *tx) token(digest []byte) (a record.APIToken, err error) {
	err = t.find(tokens, digest, &a)
	return a, err
}
