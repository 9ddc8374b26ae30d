package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

const sessionColumns = "s.digest, s.id, s.owner, s.value"

// scanSession reads the columns of a session, which must agree, its row, and what follows
// them.
func (s sealer) scanSession(r pgx.Row, more ...any) (v record.Session, stored []byte, err error) {
	var digest []byte
	var id, owner int64
	if err := r.Scan(append([]any{&digest, &id, &owner, &stored}, more...)...); err != nil {
		return v, nil, err
	}
	if len(digest) != len(v.Digest) {
		return v, nil, mismatch(tableSession, "digest")
	}
	v.Digest = record.SessionDigest(digest)
	if err := s.read(tableSession, digest, stored, &v); err != nil {
		return record.Session{}, nil, err
	}
	if uint64(v.ID) != uint64(id) {
		return record.Session{}, nil, mismatch(tableSession, "id")
	}
	if uint64(v.Owner) != uint64(owner) {
		return record.Session{}, nil, mismatch(tableSession, "owner")
	}
	return v, stored, nil
}

func (s sealer) listedSession(r pgx.CollectableRow) (record.Session, error) {
	v, _, err := s.scanSession(r)
	return v, err
}

// Session returns the session with that digest and its account, or record.ErrNotFound.
func (db *DB) Session(ctx context.Context, d record.SessionDigest) (v record.Session, owner record.Account, err error) {
	_, err = one(ctx, db, func(s sealer, r pgx.CollectableRow) (_ struct{}, err error) {
		var a accountRow
		if v, _, err = s.scanSession(r, &a.id, &a.email, &a.identities, &a.value); err == nil {
			owner, _, err = s.scanAccount(a)
		}
		return struct{}{}, err
	}, "select "+sessionColumns+", "+accountColumns+" from session s join account a on a.id = s.owner where s.digest = $1", d[:])
	if err != nil {
		return record.Session{}, record.Account{}, err
	}
	return v, owner, nil
}

// An accountRow is the columns of an account that were read with another row.
type accountRow struct {
	id           int64
	email, value []byte
	identities   [][]byte
}

// Scan copies the columns.
func (a accountRow) Scan(to ...any) error {
	*to[0].(*int64), *to[1].(*[]byte), *to[2].(*[][]byte), *to[3].(*[]byte) = a.id, a.email, a.identities, a.value
	return nil
}

// Sessions lists an account's sessions, newest first.
func (db *DB) Sessions(ctx context.Context, owner record.AccountID, limit int) ([]record.Session, error) {
	return listed(ctx, db, sealer.listedSession, "select "+sessionColumns+" from session s where owner = $1 order by id desc limit $2", int64(owner), limit)
}

// TouchSession sets when the session was last used, if it still exists.
func (db *DB) TouchSession(ctx context.Context, d record.SessionDigest, at time.Time) error {
	return db.touch(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) (before, after []byte, err error) {
		v, before, err := s.scanSession(c.QueryRow(ctx, "select "+sessionColumns+" from session s where digest = $1", d[:]))
		if err != nil {
			return nil, nil, err
		}
		v.LastUsedAt = at
		after, err = s.seal(tableSession, d[:], v)
		return before, after, err
	}, "update session set value = $3::bytea where digest = $1::bytea and value = $2::bytea and (select floor from ring) <= $4::bigint", d[:])
}

// touch changes one row that nothing else depends on, if it exists. read returns the row
// as it is and as it shall be.
func (db *DB) touch(ctx context.Context, read func(context.Context, *pgxpool.Conn, sealer) (before, after []byte, err error), query string, key any, more ...any) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		before, after, err := read(ctx, c, s)
		switch {
		case errors.Is(err, pgx.ErrNoRows), err == nil && bytes.Equal(before, after):
			return nil
		case err != nil:
			return err
		}
		t, err := c.Exec(ctx, query, append([]any{key, before, after, s.version}, more...)...)
		if err == nil && t.RowsAffected() == 0 {
			return db.touchedElsewhere(ctx, c, s)
		}
		return err
	})
}

// touchedElsewhere says why a row was not changed: another change came first, or the keys
// are old.
func (db *DB) touchedElsewhere(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	var floor int64
	if err := c.QueryRow(ctx, "select floor from ring").Scan(&floor); err != nil {
		return err
	}
	if floor > s.version {
		return decide(record.ErrStaleKeys)
	}
	return errAgain
}

// RemoveSession removes a session; record.ErrNotFound if that account has no session of
// that ID.
func (db *DB) RemoveSession(ctx context.Context, owner record.AccountID, id record.SessionID, e record.AdminEvent) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		v, _, err := a.scanSession(c.QueryRow(ctx, "select "+sessionColumns+" from session s where owner = $1 and id = $2", int64(owner), int64(id)))
		if errors.Is(err, pgx.ErrNoRows) {
			err = decide(record.ErrNotFound)
		}
		if err != nil {
			return err
		}
		a.dropSessions([]record.Session{v})
		return a.tell(e)
	})
}

// ClearSessions reads sessions by digest, from the first after the given one, and removes
// those that c.Ended: each only as it was read, since it may be used just now.
func (db *DB) ClearSessions(ctx context.Context, after record.SessionDigest, limit int, cutoff record.SessionCutoff) (last record.SessionDigest, more bool, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return last, false, err
	}
	defer done()
	err = db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		var ended [][]byte
		looked, err := collect(ctx, c, func(r pgx.CollectableRow) (record.Session, error) {
			v, stored, err := s.scanSession(r)
			if err == nil && cutoff.Ended(v) {
				ended = append(ended, stored)
			}
			return v, err
		}, "select "+sessionColumns+" from session s where digest > $1 order by digest limit $2", after[:], limit)
		if err != nil {
			return err
		}
		last, more = after, len(looked) == limit
		if len(looked) > 0 {
			last = looked[len(looked)-1].Digest
		}
		if len(ended) == 0 {
			return nil
		}
		digests := make([][]byte, 0, len(looked))
		for _, v := range looked {
			digests = append(digests, bytes.Clone(v.Digest[:]))
		}
		_, err = c.Exec(ctx, "delete from session where digest = any ($1) and value = any ($2)", digests, ended)
		return err
	})
	return last, more, err
}

// wantSession returns record.ErrSession unless by is the digest of a session of the
// account, or zero.
func (s sealer) wantSession(ctx context.Context, c *pgxpool.Conn, owner record.AccountID, by record.SessionDigest) error {
	if by == (record.SessionDigest{}) {
		return nil
	}
	v, _, err := s.scanSession(c.QueryRow(ctx, "select "+sessionColumns+" from session s where digest = $1", by[:]))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && v.Owner != owner {
		return decide(record.ErrSession)
	}
	return err
}

// endedSessions returns the sessions of an account that a change ends. by is the session
// that asks for the change.
func (a *change) endedSessions(ctx context.Context, c *pgxpool.Conn, owner record.AccountID, by record.SessionDigest, change record.SessionChange) ([]record.Session, error) {
	if change.Revoke == record.RevokeNone && change.Begin == nil {
		return nil, nil
	}
	all, err := collect(ctx, c, a.listedSession, "select "+sessionColumns+" from session s where owner = $1 order by id", int64(owner))
	if err != nil {
		return nil, err
	}
	if change.Begin != nil {
		var taken bool
		if err := c.QueryRow(ctx, "select exists (select from session where digest = $1)", change.Begin.Digest[:]).Scan(&taken); err != nil {
			return nil, err
		}
		if taken {
			return nil, decide(record.ErrExists)
		}
	}
	return change.Ended(all, by), nil
}

// replaceSessions removes sessions of an account and begins another, if there is one.
func (a *change) replaceSessions(owner record.AccountID, gone []record.Session, begins *record.Session) (v record.Session, err error) {
	a.dropSessions(gone)
	if begins == nil {
		return v, nil
	}
	a.head.session++
	v = *begins
	v.ID, v.Owner = record.SessionID(a.head.session), owner
	v.Sealed = slices.Clone(v.Sealed)
	stored, err := a.seal(tableSession, v.Digest[:], v)
	if err != nil {
		return v, decide(fmt.Errorf("a session: %w", err))
	}
	a.insert(tableSession, [][2]string{{"digest", "bytea"}, {"id", "bigint"}, {"owner", "bigint"}, {"value", "bytea"}}, v.Digest[:], int64(v.ID), int64(owner), stored)
	return v, nil
}

func (a *change) dropSessions(gone []record.Session) {
	if len(gone) == 0 {
		return
	}
	digests := make([][]byte, 0, len(gone))
	for _, v := range gone {
		digests = append(digests, bytes.Clone(v.Digest[:]))
	}
	a.write("delete from session where digest = any ($2::bytea[])", digests)
}
