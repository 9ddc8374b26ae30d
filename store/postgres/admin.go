package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// Changes of accounts, sessions, tokens, webhooks and keys write an event, except some changes of
// counts and codes, and the creation of requests. Events form a chain, so these changes already
// have an order, and compare the head of the chain: a step reads the head, then the records that it
// needs, and writes only if the head still comes from the same attempt. A change without an event
// writes the head, too. Concurrent changes of a single row, such as the use or the end of a
// session, do no harm.

// A head is the row of the instance log: its ends, and the last number of each kind of record.
type head struct {
	record.LogHead
	numbers record.LastNumbers

	op []byte // not in the record: names the attempt that wrote the row
}

// AppendBinary appends the record of h to b.
func (h head) AppendBinary(b []byte) ([]byte, error) {
	b, err := h.LogHead.AppendBinary(b)
	if err != nil {
		return nil, err
	}
	return h.numbers.AppendBinary(b)
}

// UnmarshalBinary reads a record.
func (h *head) UnmarshalBinary(b []byte) error {
	ends := min(record.LogHeadLen, len(b))
	return errors.Join(h.LogHead.UnmarshalBinary(b[:ends]), h.numbers.UnmarshalBinary(b[ends:]))
}

// loadHead reads the head and its row; nil in a new store.
func loadHead(ctx context.Context, c *pgxpool.Conn, s sealer) (h head, stored []byte, err error) {
	var floor int64
	if err := c.QueryRow(ctx, "select value, op, (select floor from ring) from head").Scan(&stored, &h.op, &floor); err != nil {
		return h, nil, err
	}
	if floor > s.version {
		return h, nil, decide(record.ErrStaleKeys)
	}
	if stored == nil {
		h.numbers = make(record.LastNumbers)
		return h, nil, nil
	}
	return h, stored, s.read(tableHead, nil, stored, &h)
}

// A change is a step that writes an event.
type change struct {
	sealer
	head   head
	batch  pgx.Batch
	before []func(*pgx.Batch) // statements that lock, before the first that writes
	onlyIf string             // another condition of the first writing statement; its arguments begin at $6
	onlyOn []any
	op     opName
	event  record.AdminEvent
	refuse error    // the error if only onlyIf fails
	quotas [][]byte // the keys of counts that it changes, which other steps change too
	counts [][]byte // their rows as they were read

	db      *DB
	planned bool // something must be written
	told    bool // with an event
}

// guard is the condition of each statement of a change after the first: that the first statement,
// which compares, succeeded.
const guard = "exists (select from head where op = $1)"

// write adds a statement, which gets the guard behind its conditions. $1 is the name of the
// attempt; the arguments follow.
func (a *change) write(query string, args ...any) {
	a.batch.Queue(query+" and "+guard, append([]any{a.op[:]}, args...)...)
}

// insert adds a statement that inserts a row. Each column comes with its type.
func (a *change) insert(table string, columns [][2]string, args ...any) {
	var names, values []string
	for i, c := range columns {
		names, values = append(names, c[0]), append(values, fmt.Sprintf("$%d::%s", i+2, c[1]))
	}
	a.batch.Queue("insert into "+table+" ("+strings.Join(names, ", ")+") select "+strings.Join(values, ", ")+" where "+guard, append([]any{a.op[:]}, args...)...)
}

// tell sets the event. An event without a kind is an error of the caller.
func (a *change) tell(e record.AdminEvent) error {
	if e.Kind.String() == "" {
		return decide(errors.New("a change of the instance has no event"))
	}
	a.event, a.planned, a.told = e, true, true
	return nil
}

// administer repeats attempts of a change until one is written. plan reads what it needs through c,
// and adds what it writes; if it neither sets planned nor calls tell, nothing is written.
func (db *DB) administer(ctx context.Context, plan func(ctx context.Context, c *pgxpool.Conn, a *change) error) error {
	return db.administerUnder(ctx, db.underKeys, plan)
}

// administerUnder is administer with a choice of the keys.
func (db *DB) administerUnder(ctx context.Context, under func(context.Context, keyedTry) error, plan func(ctx context.Context, c *pgxpool.Conn, a *change) error) error {
	t, ctx, err := inTurn(ctx, db, &db.admin, struct{}{})
	if err != nil {
		return err
	}
	defer db.admin.leave(struct{}{}, t)
	var open []writing
	try := func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		h, stored, err := loadHead(ctx, c, s)
		if err != nil {
			return err
		}
		var done bool
		if open, done, err = settleAll(ctx, c, h, open); err != nil || done {
			return err
		}
		a := &change{sealer: s, db: db, head: h, op: newOp()}
		if err := plan(ctx, c, a); err != nil || !a.planned {
			return err
		}
		w := writing{op: a.op, before: h.op}
		if a.told {
			w.event = h.Last.Number + 1
		}
		b, err := a.finish(ctx, c, stored)
		if err != nil {
			return err
		}
		rows, err := queued(ctx, c, b)
		if err != nil {
			if errors.Is(outcome(err), errUnknown) {
				open = append(open, w)
			}
			if isTaken(err) {
				return errAgain
			}
			return err
		}
		if rows[len(a.before)] == 0 {
			if a.refuse != nil {
				return a.refused(ctx, c, stored)
			}
			return errAgain
		}
		return nil
	}
	return under(ctx, try)
}

// A writing is an attempt of a change with an unknown outcome.
type writing struct {
	op     opName
	before []byte // of the head that it compares
	event  uint64 // the number of its event; 0: it has none
}

// settleAll returns the attempts of a change that may still be committed, or reports that one of
// them was, after it confirmed that one.
func settleAll(ctx context.Context, c *pgxpool.Conn, h head, all []writing) (open []writing, done bool, err error) {
	for _, w := range all {
		done, over, err := w.settle(ctx, c, h)
		if err == nil && done {
			_, err = c.Exec(ctx, "update head set op = op where one")
		}
		if err != nil || done {
			return all, done, err
		}
		if !over {
			open = append(open, w)
		}
	}
	return open, false, nil
}

// settle reports whether an attempt was committed, or can never be. For an attempt without an event
// that is unknown once another change has followed.
func (w writing) settle(ctx context.Context, c *pgxpool.Conn, h head) (done, over bool, err error) {
	switch {
	case bytes.Equal(h.op, w.op[:]):
		return true, true, nil
	case bytes.Equal(h.op, w.before): // if it still runs, it will find another head
		return false, false, nil
	case w.event == 0:
		return false, true, decide(fmt.Errorf("%w: it is not known whether the change was made", record.ErrUnavailable))
	}
	err = c.QueryRow(ctx, "select exists (select from event where number = $1 and op = $2)", int64(w.event), w.op[:]).Scan(&done)
	return done, true, err
}

// refused returns the refusal of a change if its own condition failed, but not the comparison.
func (a *change) refused(ctx context.Context, c *pgxpool.Conn, stored []byte) error {
	var same bool
	if err := c.QueryRow(ctx, "select exists (select from head where value is not distinct from $1::bytea and op = $2::bytea)", stored, a.head.op).Scan(&same); err != nil {
		return err
	}
	if same {
		return a.refuse
	}
	return errAgain
}

// finish adds the event, if there is one, and returns all statements in their order.
func (a *change) finish(ctx context.Context, c *pgxpool.Conn, stored []byte) (*pgx.Batch, error) {
	var e record.AdminEvent
	if a.told {
		e, a.head.LogHead = a.head.Append(a.event)
	}
	for a.head.Excess() > 0 {
		oldest := record.AdminEvent{Number: a.head.Removed.Number + 1}
		var v []byte
		err := c.QueryRow(ctx, "select value from event where number = $1", int64(oldest.Number)).Scan(&v)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, decide(fmt.Errorf("%w: event %d of the instance log is missing", record.ErrCorrupt, oldest.Number))
		}
		if err == nil {
			err = a.read(tableEvent, uint64Key(oldest.Number), v, &oldest)
		}
		if err != nil {
			return nil, err
		}
		a.head.Removed = oldest.End()
		a.write("delete from event where number = $2::bigint", int64(oldest.Number))
	}
	next, err := a.seal(tableHead, nil, a.head)
	if err != nil {
		return nil, decide(err)
	}
	if len(a.quotas) > 0 { // their rows are locked first, and must then be unchanged
		a.before = append(a.before, func(b *pgx.Batch) {
			b.Queue("select from quota where of = any ($1::bytea[]) order by of for update", a.quotas)
		})
		a.onlyIf = "(select count(*) from quota where (of, value) in (select * from unnest($6::bytea[], $7::bytea[]))) = $8::bigint"
		a.onlyOn = []any{a.quotas, a.counts, int64(len(a.quotas))}
	}
	var b pgx.Batch
	for _, lock := range a.before {
		lock(&b)
	}
	query, args := "update head set op = $1::bytea, value = $2::bytea where one and value is not distinct from $3::bytea and (select floor from ring) <= $4::bigint and op = $5::bytea", []any{a.op[:], next, stored, a.version, a.head.op}
	if a.onlyIf != "" {
		query, args = query+" and "+a.onlyIf, append(args, a.onlyOn...)
	}
	b.Queue(query, args...)
	if a.told {
		row, err := a.seal(tableEvent, uint64Key(e.Number), e)
		if err != nil {
			return nil, decide(err)
		}
		b.Queue("insert into event (number, op, value) select $2::bigint, $1::bytea, $3::bytea where "+guard, a.op[:], int64(e.Number), row)
	}
	b.QueuedQueries = append(b.QueuedQueries, a.batch.QueuedQueries...)
	return &b, nil
}
