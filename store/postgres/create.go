package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// CreatePush stores a new push, its payload and its first audit entry, counts it in the request
// that it answers, and returns the entry with the mail that was sent.
func (db *DB) CreatePush(ctx context.Context, p record.Push, payload []byte, e record.Entry) (record.Entry, error) {
	done, err := db.begin(ctx)
	if err != nil {
		return e, err
	}
	defer done()
	if err := db.mayAdd(ctx); err != nil {
		return e, err
	}
	if err := db.mayHold(ctx, p); err != nil {
		return e, err
	}
	n := &creation{db: db, op: newOp(), push: p, payload: payload, entry: e}
	if n.shares(ctx, sealer{db.ring.Load()}) {
		db.creates.do(ctx, n, db.createTogether)
		if n.made {
			return e, nil
		}
		if n.tried {
			ctx = inDoubt(ctx)
		}
	}
	err = db.underKeys(ctx, n.try)
	e.Mail = n.mail
	return e, err
}

// A creation is a push that is being created.
type creation struct {
	db      *DB
	op      opName // the same for each attempt: at most one of them can succeed
	push    record.Push
	payload []byte
	entry   record.Entry
	tried   bool              // an attempt may have succeeded
	made    bool              // in a statement that others share
	mail    *record.MailBatch // the mail of the entry, unless it was left out

	// What such a statement writes, under the key ring of this version:
	row     []byte
	audit   []auditRow
	version int64
}

func (n *creation) try(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if n.tried {
		if done, err := n.settle(ctx, c); done || err != nil {
			return err
		}
	}
	var owner []byte
	if n.push.Owner != 0 {
		t := &tableTx{sealer: s, db: n.db, ctx: ctx, conn: c}
		if err := t.outcome(record.MayOwn(t, n.push.Owner)); err != nil {
			return err
		}
		owner = t.row(record.Accounts.Table, uint64Key(uint64(n.push.Owner)))
	}
	mail, err := n.db.planMail(ctx, c, s, n.entry.Mail)
	if err != nil {
		return err
	}
	n.mail = mail.batch
	answered, err := s.planAnswer(ctx, c, n.push)
	if errors.Is(err, record.ErrNotFound) { // an earlier attempt may have used the last answer
		if done, settleErr := n.settle(ctx, c); done || settleErr != nil {
			return settleErr
		}
	}
	if err == nil {
		err = n.mayRepeat(ctx, c, s)
	}
	if err != nil {
		return err
	}
	st, err := n.statement(s, owner, mail, answered)
	if err != nil {
		return decide(err)
	}
	var f found
	n.tried = true
	err = c.QueryRow(ctx, st.text(`select (select count(*) from p), (select count(*) from k), (select count(*) from a),
		(select count(*) from o), (select count(*) from r), `+locked+`, (select count(*) from t), (select count(*) from push where id = $1)`), n.db.often(c, st.args...)...).
		Scan(&f.made, &f.floor, &f.owned, &f.adopted, &f.held, &f.counted, &f.asked, &f.there)
	if isTaken(err) { // the push, its repeat, or the first row of a quota
		n.tried = false
		if done, settleErr := n.settle(ctx, c); done || settleErr != nil {
			return settleErr
		}
		return errAgain
	}
	if err != nil {
		return err
	}
	n.tried = false
	return n.outcome(ctx, c, f, mail.locks())
}

// mayRepeat refuses a creation whose repeat is there: another creation with the same key was first.
func (n *creation) mayRepeat(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if n.entry.Repeat == nil {
		return nil
	}
	t := &tableTx{sealer: s, db: n.db, ctx: ctx, conn: c}
	switch _, err := record.Repeats.Get(t, n.entry.Repeat.Key()); {
	case err == nil:
		return decide(record.ErrExists)
	case errors.Is(err, record.ErrNotFound):
		return nil
	default:
		return t.outcome(err)
	}
}

// found has how many rows the statement of a creation made or found.
type found struct{ made, floor, owned, adopted, held, counted, asked, there int }

// outcome returns the outcome of a creation whose mail needs a number of quota rows.
func (n *creation) outcome(ctx context.Context, c *pgxpool.Conn, f found, quotas int) error {
	switch {
	case f.made == 1:
		return nil
	case f.there > 0:
		if done, err := n.settle(ctx, c); done || err != nil {
			return err
		}
		return errAgain
	case f.floor == 0:
		return decide(record.ErrStaleKeys)
	case f.owned == 0, f.counted < quotas, f.asked == 0:
		return errAgain // the account changed since it was read, or the quota, or the request
	case f.adopted == 0:
		return decide(fmt.Errorf("%w: the files of push %s are gone", record.ErrCorrupt, n.push.ID))
	case f.held == 0:
		return decide(&record.RoomError{Of: n.push.RoomOf()})
	default:
		return errAgain
	}
}

// settle reports whether an attempt of this creation made the push, and confirms that with another
// write, since the row may not be on a standby yet. record.ErrExists if another creation made it.
func (n *creation) settle(ctx context.Context, c *pgxpool.Conn) (done bool, err error) {
	var op []byte
	err = c.QueryRow(ctx, "select coalesce((select op from audit where id = $1 and number = 0), '') from push where id = $1", n.push.ID[:]).Scan(&op)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Equal(op, n.op[:]):
		return false, decide(record.ErrExists)
	}
	return true, confirm(ctx, c, n.push.ID)
}

// confirm waits until all earlier writes are durable: it commits a small write, and a commit waits
// for the log before it.
func confirm(ctx context.Context, c *pgxpool.Conn, id record.ID) error {
	t, err := c.Exec(ctx, "update push set op = op where id = $1", id[:])
	if err == nil && t.RowsAffected() == 0 {
		_, err = c.Exec(ctx, "update meta set value = value where name = 'schema'")
	}
	return err
}

// statement makes the one statement of an attempt. Its parts are locks and conditions
// first (k the key ring, a the owner, o the chunks, u the sender of mail, q the quotas, t the request), then the count of what
// the sender holds (r), then the push (p) if all of them are there, and then what comes
// with it.
func (n *creation) statement(s sealer, owner []byte, mail mailPlan, answered answerPlan) (*statement, error) {
	p, st := n.push, &statement{}
	id := st.arg("bytea", p.ID[:])
	st.part("k", "select 1 from ring where floor <= "+st.arg("bigint", s.version))
	if p.Owner != 0 {
		st.part("a", "select 1 from account where id = "+st.arg("bigint", int64(p.Owner))+" and value = "+st.arg("bytea", owner)+" for key share")
	} else {
		st.part("a", "select 1")
	}
	if p.HoldsFiles() {
		st.part("o", "select 1 from orphan where id = "+id+" for update")
	} else {
		st.part("o", "select 1")
	}
	mail.lock(st)
	answered.lock(st)
	ready := fmt.Sprintf("exists (select from k) and exists (select from t) and exists (select from a) and exists (select from o) and %s = %d and not exists (select from push where id = %s)", locked, mail.locks(), id)
	n.holdRoom(st, ready)
	sealed, err := s.seal(tablePush, pushKey(p.ID, 1), p)
	if err != nil {
		return nil, err
	}
	c := columnsOf(p)
	op := st.arg("bytea", n.op[:])
	st.part("p", fmt.Sprintf("insert into push (id, seq, op, owner, live, queue, due, value) select %s, 1, %s, %s, %s, %s, %s, %s where exists (select from r) returning id",
		id, op, st.arg("bigint", c.owner), st.arg("boolean", c.live), st.arg("smallint", c.queue), st.arg("bigint", c.due), st.arg("bytea", sealed)))
	if len(n.payload) > 0 {
		st.part("y", fmt.Sprintf("insert into payload (id, sum, data) select id, %s, %s from p", st.arg("bigint", digest(n.payload)), st.arg("bytea", n.payload)))
	}
	if p.HoldsFiles() {
		st.part("d", "delete from orphan where id in (select id from p)")
	}
	n.db.addRoom(st, p, record.Room{}, p.Room(), roomShared)
	mail.write(st)
	answered.write(st)
	if r := n.entry.Repeat; r != nil {
		row, err := s.seal(record.Repeats.Name, r.Key(), r)
		if err != nil {
			return nil, err
		}
		st.part("once", fmt.Sprintf("insert into %s (id, value) select %s, %s from p", record.Repeats.Name, st.arg("bytea", r.Key()), st.arg("bytea", row)))
	}
	entry := n.entry
	entry.Mail = mail.batch
	if err := n.db.addMessages(st, s, entry); err != nil {
		return nil, err
	}
	return st, s.addEntries(st, p.ID, 0, append([]record.Entry{n.entry}, n.entry.Then...), op)
}

// addEntries adds a part that appends audit entries, under numbers from first on.
func (s sealer) addEntries(st *statement, id record.ID, first uint32, es []record.Entry, op string) error {
	var numbers []int64
	var values [][]byte
	for i, e := range es {
		number := first + uint32(i)
		v, err := s.seal(tableAudit, auditKey(id, number), e)
		if err != nil {
			return err
		}
		numbers, values = append(numbers, int64(number)), append(values, v)
	}
	st.part("e", fmt.Sprintf("insert into audit (id, number, op, value) select p.id, u.number, %s, u.value from p, unnest(%s, %s) as u (number, value)",
		op, st.arg("bigint[]", numbers), st.arg("bytea[]", values)))
	return nil
}

// answerPlan is the change of a request by an answer, and the row that it is based on. The zero
// value is no answer.
type answerPlan struct {
	next     record.Request
	old, row []byte // nil: none
}

// planAnswer decides whether a push may answer its request, if it has one.
func (s sealer) planAnswer(ctx context.Context, c *pgxpool.Conn, p record.Push) (a answerPlan, err error) {
	if p.Request == (record.RequestID{}) {
		return a, nil
	}
	t := &tableTx{sealer: s, ctx: ctx, conn: c}
	r, err := record.Requests.Get(t, p.Request[:])
	if err != nil {
		return a, t.outcome(err)
	}
	if a.next, err = r.Answer(p); err != nil {
		return a, decide(err)
	}
	a.old = t.row(record.Requests.Table, r.Key())
	a.row, err = s.seal(tableRequest, r.ID[:], a.next)
	return a, decide(err)
}

// lock adds the part t, which has a row if the request is unchanged.
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
