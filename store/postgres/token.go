package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

const tokenColumns = "t.digest, t.id, t.owner, t.value"

// scanToken reads the columns of a token, which must agree, its row, and what follows
// them.
func (s sealer) scanToken(r pgx.Row, more ...any) (v record.APIToken, stored []byte, err error) {
	var digest []byte
	var id, owner int64
	if err := r.Scan(append([]any{&digest, &id, &owner, &stored}, more...)...); err != nil {
		return v, nil, err
	}
	if err := s.read(tableToken, digest, stored, &v); err != nil {
		return record.APIToken{}, nil, err
	}
	switch {
	case string(v.Digest[:]) != string(digest):
		return record.APIToken{}, nil, mismatch(tableToken, "digest")
	case uint64(v.ID) != uint64(id):
		return record.APIToken{}, nil, mismatch(tableToken, "id")
	case uint64(v.Owner) != uint64(owner):
		return record.APIToken{}, nil, mismatch(tableToken, "owner")
	}
	return v, stored, nil
}

func (s sealer) listedToken(r pgx.CollectableRow) (record.APIToken, error) {
	v, _, err := s.scanToken(r)
	return v, err
}

// CreateToken keeps a new API token under a new ID, which it returns. Beside the
// documented errors it returns record.ErrExists for a digest in use, which cannot happen to
// random tokens.
func (db *DB) CreateToken(ctx context.Context, t record.APIToken, e record.AdminEvent) (id record.TokenID, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	err = db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		if _, _, err := a.account(ctx, c, t.Owner); err != nil {
			return err
		}
		n, err := a.createToken(ctx, c, t, false)
		if err != nil {
			return err
		}
		id, e.Subject = record.TokenID(n), n
		return a.tell(e)
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// createToken returns the new token's ID. alone says that the owner's other tokens go in
// the same step.
func (a *change) createToken(ctx context.Context, c *pgxpool.Conn, t record.APIToken, alone bool) (uint64, error) {
	var taken bool
	var n int
	err := c.QueryRow(ctx, "select exists (select from token where digest = $1), (select count(*) from token where owner = $2)", t.Digest[:], int64(t.Owner)).Scan(&taken, &n)
	switch {
	case err != nil:
		return 0, err
	case taken:
		return 0, decide(record.ErrExists)
	case n >= record.MaxTokens && !alone:
		return 0, decide(record.ErrTokens)
	}
	a.head.token++
	t.ID = record.TokenID(a.head.token)
	stored, err := a.seal(tableToken, t.Digest[:], t)
	if err != nil {
		return 0, decide(err)
	}
	a.insert(tableToken, [][2]string{{"digest", "bytea"}, {"id", "bigint"}, {"owner", "bigint"}, {"value", "bytea"}}, t.Digest[:], int64(t.ID), int64(t.Owner), stored)
	return a.head.token, nil
}

// Token returns the token with that digest and its account, or record.ErrNotFound.
func (db *DB) Token(ctx context.Context, d record.TokenDigest) (v record.APIToken, owner record.Account, err error) {
	_, err = one(ctx, db, func(s sealer, r pgx.CollectableRow) (_ struct{}, err error) {
		var a accountRow
		if v, _, err = s.scanToken(r, &a.id, &a.email, &a.identities, &a.value); err == nil {
			owner, _, err = s.scanAccount(a)
		}
		return struct{}{}, err
	}, "select "+tokenColumns+", "+accountColumns+" from token t join account a on a.id = t.owner where t.digest = $1", d[:])
	if err != nil {
		return record.APIToken{}, record.Account{}, err
	}
	return v, owner, nil
}

// Tokens lists an account's tokens by ID, from the first after the one given.
func (db *DB) Tokens(ctx context.Context, owner record.AccountID, after record.TokenID, limit int) ([]record.APIToken, error) {
	first, ok := column(after)
	if !ok {
		limit = 0
	}
	return listed(ctx, db, sealer.listedToken, "select "+tokenColumns+" from token t where owner = $1 and id > $2 order by id limit $3", int64(owner), first, limit)
}

// TouchToken sets when the token was last used, if it still exists.
func (db *DB) TouchToken(ctx context.Context, d record.TokenDigest, at time.Time) error {
	return db.touch(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) (before, after []byte, err error) {
		v, before, err := s.scanToken(c.QueryRow(ctx, "select "+tokenColumns+" from token t where digest = $1", d[:]))
		if err != nil {
			return nil, nil, err
		}
		v.LastUsedAt = at
		after, err = s.seal(tableToken, d[:], v)
		return before, after, err
	}, "update token set value = $3::bytea where digest = $1::bytea and value = $2::bytea and (select floor from ring) <= $4::bigint", d[:])
}

// RemoveToken removes a token; record.ErrNotFound if there is none, or owner is neither 0
// nor its owner.
func (db *DB) RemoveToken(ctx context.Context, owner record.AccountID, id record.TokenID, e record.AdminEvent) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		v, _, err := a.scanToken(c.QueryRow(ctx, "select "+tokenColumns+" from token t where id = $1", int64(id)))
		if errors.Is(err, pgx.ErrNoRows) || err == nil && owner != 0 && owner != v.Owner {
			err = decide(record.ErrNotFound)
		}
		if err != nil {
			return err
		}
		a.write("delete from token where digest = $2::bytea", v.Digest[:])
		e.Account = v.Owner
		return a.tell(e)
	})
}
