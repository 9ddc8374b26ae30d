package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

const requestColumns = "id, owner, live, value"

// scanRequest reads the columns of a request, which must agree, and its row.
func (s sealer) scanRequest(row pgx.Row) (r record.Request, stored []byte, err error) {
	var id []byte
	var owner int64
	var live bool
	if err := row.Scan(&id, &owner, &live, &stored); err != nil {
		return r, nil, err
	}
	if len(id) != len(r.ID) {
		return r, nil, mismatch(tableRequest, "id")
	}
	r.ID = record.RequestID(id)
	if err := s.read(tableRequest, id, stored, &r); err != nil {
		return record.Request{}, nil, err
	}
	switch {
	case uint64(r.Owner) != uint64(owner):
		return record.Request{}, nil, mismatch(tableRequest, "owner")
	case r.EndedAt.IsZero() != live:
		return record.Request{}, nil, mismatch(tableRequest, "live")
	}
	return r, stored, nil
}

func (s sealer) listedRequest(row pgx.CollectableRow) (record.Request, error) {
	r, _, err := s.scanRequest(row)
	return r, err
}

// request returns a request and its row. record.ErrNotFound if there is none.
func (s sealer) request(ctx context.Context, c *pgxpool.Conn, id record.RequestID) (record.Request, []byte, error) {
	r, stored, err := s.scanRequest(c.QueryRow(ctx, "select "+requestColumns+" from request where id = $1", id[:]))
	if errors.Is(err, pgx.ErrNoRows) {
		err = decide(record.ErrNotFound)
	}
	return r, stored, err
}

// CreateRequest keeps a new request.
func (db *DB) CreateRequest(ctx context.Context, r record.Request) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := db.mayAdd(ctx); err != nil {
		return err
	}
	tried := false
	return db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		again := tried
		tried = true
		return pgx.BeginFunc(ctx, c, func(pgx.Tx) error { return s.createRequest(ctx, c, r, again) })
	})
}

// createRequest runs in a transaction, which locks the account: no other request of it is
// created meanwhile, and it is not removed. The lock waits for the end of an attempt before
// this one, and its commit for the log of what that wrote.
func (s sealer) createRequest(ctx context.Context, c *pgxpool.Conn, r record.Request, again bool) error {
	if _, err := c.Exec(ctx, "select from account where id = $1 for no key update", int64(r.Owner)); err != nil {
		return err
	}
	if again {
		there, _, err := s.request(ctx, c, r.ID)
		switch {
		case err == nil && bytes.Equal(there.Sealed, r.Sealed): // the attempt before made it
			return nil
		case !errors.Is(err, record.ErrNotFound):
			return cmp.Or(err, decide(record.ErrExists))
		}
	}
	a, _, err := s.account(ctx, c, r.Owner)
	if errors.Is(err, record.ErrNotFound) || err == nil && !a.Active() {
		return decide(record.ErrToken)
	}
	if err != nil {
		return err
	}
	others, err := collect(ctx, c, s.listedRequest, "select "+requestColumns+" from request where owner = $1 and live", int64(r.Owner))
	if err != nil {
		return err
	}
	live := 0
	for _, o := range others {
		if o.Live(r.CreatedAt) {
			live++
		}
	}
	if live >= record.MaxRequests {
		return decide(record.ErrRequests)
	}
	stored, err := s.seal(tableRequest, r.ID[:], r)
	if err != nil {
		return decide(err)
	}
	t, err := c.Exec(ctx, `insert into request (id, owner, live, value) select $1::bytea, $2::bigint, $3::boolean, $4::bytea
		where exists (select from ring where floor <= $5)`, r.ID[:], int64(r.Owner), r.EndedAt.IsZero(), stored, s.version)
	switch {
	case isTaken(err):
		return decide(record.ErrExists)
	case err == nil && t.RowsAffected() == 0:
		return decide(record.ErrStaleKeys)
	}
	return err
}

// AnswerRequest keeps a push that answers a request, and counts it there.
func (db *DB) AnswerRequest(ctx context.Context, p record.Push, payload []byte, e record.Entry) (record.Entry, error) {
	if p.Request == (record.RequestID{}) {
		return record.Entry{}, record.ErrNotFound
	}
	kept, err := db.create(ctx, p, payload, e)
	if err != nil {
		return record.Entry{}, err
	}
	return kept, nil
}

// answerPlan is what an answer does to its request, and the row that this was decided by.
// The zero value is no answer.
type answerPlan struct {
	next     record.Request
	old, row []byte // nil: none
}

// planAnswer decides whether a push may answer its request, if it has one.
func (s sealer) planAnswer(ctx context.Context, c *pgxpool.Conn, p record.Push) (a answerPlan, err error) {
	if p.Request == (record.RequestID{}) {
		return a, nil
	}
	r, old, err := s.request(ctx, c, p.Request)
	if err != nil {
		return a, err
	}
	if a.next, err = r.Answer(p); err != nil {
		return a, decide(err)
	}
	a.old = old
	a.row, err = s.seal(tableRequest, r.ID[:], a.next)
	return a, decide(err)
}

// lock adds the part t, which has a row if the request is as it was read.
func (a answerPlan) lock(st *statement) {
	if a.old == nil {
		st.part("t", "select 1")
		return
	}
	st.part("t", "select 1 from request where id = "+st.arg("bytea", a.next.ID[:])+" and value = "+st.arg("bytea", a.old)+" for update")
}

// write adds the part that counts the answer.
func (a answerPlan) write(st *statement) {
	if a.old == nil {
		return
	}
	st.part("tu", "update request set live = "+st.arg("boolean", a.next.EndedAt.IsZero())+", value = "+st.arg("bytea", a.row)+
		" from p where request.id = "+st.arg("bytea", a.next.ID[:]))
}

// Request returns the request, or record.ErrNotFound.
func (db *DB) Request(ctx context.Context, id record.RequestID) (record.Request, error) {
	return one(ctx, db, sealer.listedRequest, "select "+requestColumns+" from request where id = $1", id[:])
}

// Requests lists an account's requests: first those without a time of their end, newest
// first.
func (db *DB) Requests(ctx context.Context, owner record.AccountID, after record.Request, skip, limit int) ([]record.Request, error) {
	of, ok := column(owner)
	if !ok {
		limit = 0
	}
	behind, args := "", []any{of, skip, limit}
	if after.ID != (record.RequestID{}) {
		behind, args = "and (live, id) < ($4, $5)", append(args, after.EndedAt.IsZero(), after.ID[:])
	}
	return listed(ctx, db, sealer.listedRequest, "select "+requestColumns+" from request where owner = $1 "+behind+" order by live desc, id desc offset $2 limit $3", args...)
}

// ScanRequests lists requests by ID, from the first after the given one.
func (db *DB) ScanRequests(ctx context.Context, after record.RequestID, limit int) ([]record.Request, error) {
	return listed(ctx, db, sealer.listedRequest, "select "+requestColumns+" from request where id > $1 order by id limit $2", after[:], limit)
}

// ChangeRequest applies a rule to the request, which it returns.
func (db *DB) ChangeRequest(ctx context.Context, id record.RequestID, rule record.RequestRule) (r record.Request, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return r, err
	}
	defer done()
	tried := false
	err = db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		old, stored, err := s.request(ctx, c, id)
		if err != nil {
			return err
		}
		var gone bool
		var ruleErr error
		if err := record.CatchPanic(func() { r, gone, ruleErr = rule(old) }); err != nil || ruleErr != nil {
			return decide(cmp.Or(err, ruleErr))
		}
		write, args := "delete from request where id = $1 and value = $2", []any{id[:], stored, s.version}
		if gone {
			r = old
		} else {
			r.ID = id
			row, err := s.seal(tableRequest, id[:], r)
			if err != nil {
				return decide(err)
			}
			if bytes.Equal(row, stored) {
				if tried { // an attempt before may have written it
					return confirm(ctx, c, record.ID{})
				}
				return nil
			}
			write, args = "update request set live = $4::boolean, value = $5::bytea where id = $1 and value = $2", append(args, r.EndedAt.IsZero(), row)
		}
		tried = true
		var floor, written int
		err = c.QueryRow(ctx, "with k as (select 1 from ring where floor <= $3), u as ("+write+` and exists (select from k) returning 1)
			select (select count(*) from k), (select count(*) from u)`, args...).Scan(&floor, &written)
		switch {
		case err != nil:
			return err
		case floor == 0:
			return decide(record.ErrStaleKeys)
		case written == 0:
			return errAgain
		}
		return nil
	})
	if err != nil {
		return record.Request{}, err
	}
	return r, nil
}
