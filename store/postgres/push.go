package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A row is a push as the database has it.
type row struct {
	push    record.Push
	record  []byte // of the push
	seq     int64  // the number of its changes
	op      opName // of the attempt that wrote it
	payload []byte // nil: none
	floor   int64  // of the key ring, when it was read
}

// castagnoli detects what a disk changed in payloads and chunks, without any key.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func digest(b []byte) int64 { return int64(crc32.Checksum(b, castagnoli)) }

const pushColumns = "p.id, p.seq, p.op, p.owner, p.live, p.queue, p.due, p.value"

// A rawPush is a row of push as it was read.
type rawPush struct {
	id, op, stored []byte
	seq            int64
	of             columns

	size    int    // of the payload
	payload []byte // nil: none, or it was not read
	floor   int64
}

// columns are where those of pushColumns are read to.
func (r *rawPush) columns() []any {
	return []any{&r.id, &r.seq, &r.op, &r.of.owner, &r.of.live, &r.of.queue, &r.of.due, &r.stored}
}

// believe returns the push of a row, whose columns must agree with its record. One that has
// ended has no payload.
func (s sealer) believe(r *rawPush) (w row, err error) {
	if len(r.id) != len(w.push.ID) {
		return w, mismatch(tablePush, "id")
	}
	w.push.ID, w.seq = record.ID(r.id), r.seq
	copy(w.op[:], r.op)
	if w.record, err = s.open(tablePush, pushKey(w.push.ID, w.seq), r.stored); err != nil {
		return w, err
	}
	if err := w.push.UnmarshalBinary(w.record); err != nil {
		return w, decide(fmt.Errorf("%w: %s: %w", record.ErrCorrupt, tablePush, err))
	}
	if name := r.of.differs(columnsOf(w.push)); name != "" {
		return w, mismatch(tablePush, name)
	}
	w.floor = r.floor
	if w.push.Live() {
		w.payload = r.payload
	}
	return w, nil
}

// scanPush reads the columns of a push, and what follows them.
func (s sealer) scanPush(r pgx.Row, more ...any) (w row, err error) {
	var raw rawPush
	if err := r.Scan(append(raw.columns(), more...)...); err != nil {
		return w, err
	}
	return s.believe(&raw)
}

// columns are what the indexes have of a push.
type columns struct {
	owner int64
	live  bool
	queue int16
	due   int64
}

func columnsOf(p record.Push) columns {
	queue, at := p.ExpiryQueue()
	return columns{int64(p.Owner), p.Live(), int16(queue), milliseconds(at)}
}

// differs names a column that is another; empty if none is.
func (c columns) differs(o columns) string {
	switch {
	case c.owner != o.owner:
		return "owner"
	case c.live != o.live:
		return "live"
	case c.queue != o.queue:
		return "queue"
	case c.due != o.due:
		return "due"
	default:
		return ""
	}
}

// load reads a push and its payload, in one snapshot. record.ErrNotFound if there is none.
func (s sealer) load(ctx context.Context, c *pgxpool.Conn, id record.ID) (w row, err error) {
	var r rawPush
	err = c.QueryRow(ctx, "select "+pushColumns+`, y.data, (select floor from ring)
		from push p left join payload y on y.id = p.id where p.id = $1`, id[:]).Scan(append(r.columns(), &r.payload, &r.floor)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return w, decide(record.ErrNotFound)
	case err != nil:
		return w, err
	}
	return s.believe(&r)
}

// Push returns the push, or record.ErrNotFound.
func (db *DB) Push(ctx context.Context, id record.ID) (p record.Push, err error) {
	p, _, err = db.PushAndSize(ctx, id)
	return p, err
}

// PushAndSize returns the push and the length of its sealed payload; 0 where there is
// none. record.ErrNotFound if there is no such push.
func (db *DB) PushAndSize(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return p, 0, err
	}
	defer done()
	return db.pushOf(ctx, id)
}

// pushOf is PushAndSize within a step.
func (db *DB) pushOf(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	r := db.readShared(ctx, id)
	if r.err == nil && r.found == nil {
		return record.Push{}, 0, record.ErrNotFound
	}
	if r.err == nil {
		if w, err := (sealer{db.ring.Load()}).believe(r.found); err == nil {
			return db.remember(w, r.found), r.found.sizeOf(w.push), nil
		}
	}
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			w, err := s.scanPush(c.QueryRow(ctx, "select "+pushColumns+`, coalesce(octet_length(y.data), 0)
				from push p left join payload y on y.id = p.id where p.id = $1`, id[:]), &payload)
			if errors.Is(err, pgx.ErrNoRows) {
				return decide(record.ErrNotFound)
			}
			p = w.push
			return err
		})
	})
	if err != nil {
		return record.Push{}, 0, err
	}
	if !p.Live() {
		payload = 0
	}
	return p, payload, nil
}

// remember keeps a push for the change that may follow, if all of it was read.
func (db *DB) remember(w row, r *rawPush) record.Push {
	if len(r.payload) == r.size {
		db.recent.put(&w)
	}
	return w.push
}

// sizeOf is the length of the payload of a push; 0 if it has ended.
func (r *rawPush) sizeOf(p record.Push) int {
	if !p.Live() {
		return 0
	}
	return r.size
}

// CreatePush keeps a new push, its payload and its first audit entry.
func (db *DB) CreatePush(ctx context.Context, p record.Push, payload []byte, e record.Entry) error {
	_, err := db.create(ctx, p, payload, e)
	return err
}

// create keeps a new push, and returns the entry with the mail that goes out.
func (db *DB) create(ctx context.Context, p record.Push, payload []byte, e record.Entry) (record.Entry, error) {
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
	made    bool              // by a statement that others share
	mail    *record.MailBatch // of the entry, unless it was left out

	// What such a statement writes, under the key ring of that version.
	row     pushRow
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
		a, stored, err := s.account(ctx, c, n.push.Owner)
		if errors.Is(err, record.ErrNotFound) || err == nil && !a.Active() {
			return decide(record.ErrToken)
		}
		if err != nil {
			return err
		}
		owner = stored
	}
	mail, err := n.db.planMail(ctx, c, s, n.entry.Mail)
	if err != nil {
		return err
	}
	n.mail = mail.batch
	answered, err := s.planAnswer(ctx, c, n.push)
	if errors.Is(err, record.ErrNotFound) { // an attempt before may have taken the last answer
		if done, settleErr := n.settle(ctx, c); done || settleErr != nil {
			return settleErr
		}
	}
	if err != nil {
		return err
	}
	st, err := n.statement(s, owner, mail, answered)
	if err != nil {
		return decide(err)
	}
	var made, floor, owned, adopted, held, counted, asked, there int
	n.tried = true
	err = c.QueryRow(ctx, st.text(`select (select count(*) from p), (select count(*) from k), (select count(*) from a),
		(select count(*) from o), (select count(*) from r), `+locked+`, (select count(*) from t), (select count(*) from push where id = $1)`), st.args...).
		Scan(&made, &floor, &owned, &adopted, &held, &counted, &asked, &there)
	if isTaken(err) { // the push, or the first row of a quota
		n.tried = false
		if done, settleErr := n.settle(ctx, c); done || settleErr != nil {
			return settleErr
		}
		return errAgain
	}
	if err != nil {
		return err
	}
	switch n.tried = false; {
	case made == 1:
		return nil
	case there > 0:
		if done, err := n.settle(ctx, c); done || err != nil {
			return err
		}
		return errAgain
	case floor == 0:
		return decide(record.ErrStaleKeys)
	case owned == 0, counted < mail.locks(), asked == 0:
		return errAgain // the account changed since it was read, or the quota, or the request
	case adopted == 0:
		return decide(fmt.Errorf("%w: the files of push %s are gone", record.ErrCorrupt, n.push.ID))
	case held == 0:
		return decide(&record.RoomError{Of: n.push.RoomOf()})
	default:
		return errAgain
	}
}

// settle reports whether an attempt of this creation made the push, and has that confirmed
// by another write: what it reads may be on no standby yet. record.ErrExists if another
// creation made it.
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

// confirm waits until all that was written before it is durable: it commits a small write,
// and a commit waits for the log before it.
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
	mail.write(st, s)
	answered.write(st)
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

// Change applies r to the push.
func (db *DB) Change(ctx context.Context, id record.ID, r record.Rule) (c record.Change, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	full := db.mayAdd(ctx)
	if full != nil && !errors.Is(full, record.ErrFull) {
		return c, full
	}
	_, c, err = db.changePush(ctx, id, true, func(_ context.Context, _ *pgxpool.Conn, _ sealer, w row) (plan, error) {
		next, e, err := r.Apply(w.push)
		if err == nil && full != nil && next.Seq != w.push.Seq && e.Kind.Dispensable() {
			next = w.push.WithoutEntry(next)
		}
		return plan{next: next, entry: e}, err
	})
	return c, err
}

// A plan is what a step does to a push.
type plan struct {
	next  record.Push
	entry record.Entry // appended where next counts it
	grant *record.Grant
	drop  *record.Grant // a grant that goes; then nothing else happens
}

// A planner decides one attempt by the row as it is. What it returns may be discarded, and
// asked for again.
type planner func(ctx context.Context, c *pgxpool.Conn, s sealer, w row) (plan, error)

// changePush has a planner decide by the push as it is, and writes what it planned if the
// push is then still the same; else it begins again. It returns the plan that was done. A
// planner that needs no connection shares statements.
func (db *DB) changePush(ctx context.Context, id record.ID, shares bool, decideOn planner) (plan, record.Change, error) {
	begun := time.Now()
	t := db.turns.enter(id)
	defer db.turns.drop(id, t)
	ch := &pushChange{db: db, id: id, op: newOp(), decide: decideOn, newer: func(s sealer) bool { return s.newerThan(ctx) }}
	if shares {
		t.chains.do(ctx, ch, func(all []*pushChange) error { return db.changeInChain(id, t, all) })
		if ch.written {
			return ch.plan, ch.done, nil
		}
		if len(ch.trials) > 0 {
			ctx = inDoubt(ctx)
		}
	}
	if err := db.beginTurn(ctx, t, begun); err != nil {
		return plan{}, record.Change{}, err
	}
	defer t.end()
	ch.known, t.known = t.known, nil
	if err := db.underKeys(since(ctx, begun), ch.try); err != nil {
		return plan{}, record.Change{}, err
	}
	t.known = ch.left
	return ch.plan, ch.done, nil
}

// A pushChange is a change of a push under way.
type pushChange struct {
	db     *DB
	id     record.ID
	op     opName // the same for each attempt: at most one of them can succeed
	decide planner
	known  *row // what the change before left, which saves reading; nil: nothing

	trials []trial // attempts whose outcome is unknown
	plan   plan
	done   record.Change // what plan does
	left   *row          // the row as the change leaves it; nil: unknown

	newer   func(s sealer) bool // whether a ring is newer than what the change has sealed
	written bool                // by a statement that others share
}

// A trial is an attempt of a change. At most one of them can succeed.
type trial struct {
	was   int64  // what it compares with the number of changes of the row
	entry uint32 // the number of the audit entry that it appends, if it appends one
	plan  plan
	done  record.Change
}

// appends reports whether a trial appends an audit entry, which then tells of it for good.
func (tr trial) appends() bool {
	return tr.plan.next.State != record.Purged && tr.plan.next.Seq != tr.entry
}

// try makes one attempt. What is known without reading may be out of date: then nothing
// that it decides counts but a write that succeeds, since that compares.
func (ch *pushChange) try(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if len(ch.trials) == 0 && ch.known != nil && ch.known.floor <= s.version {
		w := *ch.known
		ch.known = nil
		w.push = copyPush(w)
		if p, err := ch.decide(ctx, c, s, w); err == nil && ch.changes(w, p) {
			if err := ch.write(ctx, c, s, w, p); !isOwn(err) {
				return err
			}
		}
	}
	w, err := s.load(ctx, c, ch.id)
	if len(ch.trials) > 0 {
		switch done, settleErr := ch.settle(ctx, c, w, err); {
		case settleErr != nil:
			return settleErr
		case done:
			return confirm(ctx, c, ch.id)
		}
	}
	if err != nil {
		return err
	}
	if w.floor > s.version {
		return decide(record.ErrStaleKeys)
	}
	p, err := ch.decide(ctx, c, s, w)
	if err != nil {
		return decideUnless(err)
	}
	return ch.write(ctx, c, s, w, p)
}

// decideUnless wraps an error of a planner, unless it is one of the way to the database.
func decideUnless(err error) error {
	if o := outcome(err); errors.Is(o, errAgain) || errors.Is(o, errUnknown) {
		if _, own := errors.AsType[*wireError](err); own {
			return err
		}
	}
	return decide(err)
}

// A wireError marks an error of a query that a planner made.
type wireError struct{ error }

func (e *wireError) Unwrap() error { return e.error }

// copyPush is the push of a row that others may have: rules may write to its bytes.
func copyPush(w row) record.Push {
	p := record.Push{ID: w.push.ID}
	_ = p.UnmarshalBinary(w.record) // it was read so before
	return p
}

// changes reports whether a plan writes anything to the row of the push.
func (ch *pushChange) changes(w row, p plan) bool {
	if p.drop != nil || p.next.State == record.Purged {
		return p.drop == nil
	}
	encoded, err := p.next.AppendBinary(nil)
	return err == nil && !bytes.Equal(encoded, w.record)
}

// settle finds out whether one of the attempts before was done, which is the change then, and
// forgets those that never can be. w is the push as it is now.
func (ch *pushChange) settle(ctx context.Context, c *pgxpool.Conn, w row, err error) (done bool, _ error) {
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return false, err
	}
	var open []trial
	for _, tr := range ch.trials {
		done, over, settleErr := ch.settleOne(ctx, c, w, err != nil, tr)
		if settleErr != nil {
			return false, settleErr
		}
		if done {
			ch.plan, ch.done = tr.plan, tr.done
			return true, nil
		}
		if !over {
			open = append(open, tr)
		}
	}
	ch.trials = open
	return false, nil
}

// settleOne reports whether an attempt was done, or can never be: the entry that it appended,
// or the push where it appended none, has its name.
func (ch *pushChange) settleOne(ctx context.Context, c *pgxpool.Conn, w row, gone bool, tr trial) (done, over bool, err error) {
	switch {
	case gone: // it was purged, by this attempt or by another
		return tr.plan.next.State == record.Purged, true, nil
	case w.seq == tr.was:
		return false, false, nil // it may come yet, before the next attempt or after it
	case tr.plan.next.State == record.Purged:
		return false, true, nil
	case tr.appends():
		var op []byte
		err := c.QueryRow(ctx, "select coalesce((select op from audit where id = $1 and number = $2), '')", ch.id[:], int64(tr.entry)).Scan(&op)
		return bytes.Equal(op, ch.op[:]), true, err
	case w.op == ch.op:
		return true, true, nil
	case w.seq == tr.was+1: // by another
		return false, true, nil
	default:
		return false, true, decide(fmt.Errorf("%w: it is not known whether push %s was changed", record.ErrUnavailable, ch.id))
	}
}

// write writes a plan, if the push is still the row that it was planned for.
func (ch *pushChange) write(ctx context.Context, c *pgxpool.Conn, s sealer, w row, p plan) error {
	ch.plan = p
	ch.done = record.Change{Push: p.next, Entry: p.entry, Payload: bytes.Clone(w.payload)}
	if len(p.entry.Messages) > 0 {
		if err := ch.db.mayAddOn(ctx, c); isOwn(err) {
			p.entry.Messages = p.entry.Messages[:0]
		} else if err != nil {
			return err
		}
	}
	mail, err := ch.db.planMail(ctx, c, s, p.entry.Mail)
	if err != nil {
		return err
	}
	p.entry.Mail = mail.batch
	st, next, err := ch.statement(s, w, &p, mail)
	if err != nil {
		return decide(err)
	}
	ch.done.Entry.Messages, ch.done.Entry.Mail = p.entry.Messages, p.entry.Mail
	if st == nil {
		return nil
	}
	var done int
	before := ch.trials // one of them may have come just now, so that this one finds another row
	ch.trials = append(slices.Clip(before), trial{w.seq, w.push.Seq, p, ch.done})
	if err := c.QueryRow(ctx, st.text("select count(*) from p"), st.args...).Scan(&done); err != nil {
		if isTaken(err) { // the first row of a quota
			ch.trials = before
			return errAgain
		}
		return err
	}
	if done == 0 {
		ch.trials = before
		return errAgain
	}
	ch.left = next
	return nil
}

// statement makes the one statement of an attempt; nil if there is nothing to write. Its
// part p is the compare-and-swap, without which no other part does anything. It returns
// the row as it will be; nil if the push will be gone.
//
// Where a live push stays as it is, its payload is about to be delivered: then a write that
// changes nothing confirms that this server may still write at all.
func (ch *pushChange) statement(s sealer, w row, p *plan, mail mailPlan) (*statement, *row, error) {
	st := &statement{}
	id, seq := st.arg("bytea", ch.id[:]), st.arg("bigint", w.seq)
	swap := "where id = " + id + " and seq = " + seq + " and (select floor from ring) <= " + st.arg("bigint", s.version)
	if mail.row != nil || len(mail.old) > 0 {
		mail.lock(st)
		swap += fmt.Sprintf(" and %s = %d", locked, mail.locks())
	}
	encoded, err := p.next.AppendBinary(nil)
	if err != nil {
		return nil, nil, err
	}
	op := func() string { return st.arg("bytea", ch.op[:]) }
	next := row{push: p.next, record: encoded, seq: w.seq + 1, op: ch.op, payload: w.payload, floor: w.floor}
	switch {
	case p.drop != nil:
		st.part("p", "select id from push "+swap+" for update")
		st.part("g", "delete from grants where id in (select id from p) and digest = "+st.arg("bytea", p.drop.Digest[:]))
		return st, nil, nil
	case p.next.State == record.Purged:
		ch.purge(st, swap, w.push)
		mail.write(st, s)
		return st, nil, ch.db.addMessages(st, s, p.entry)
	case bytes.Equal(encoded, w.record):
		if !w.push.Live() && p.grant == nil && p.entry.Grant == nil && len(p.entry.Messages) == 0 && mail.batch == nil {
			return nil, nil, nil
		}
		next.seq = w.seq
		st.part("p", "update push set op = "+op()+" "+swap+" returning id")
	default:
		c := columnsOf(p.next)
		st.part("p", fmt.Sprintf("update push set seq = seq + 1, op = %s, owner = %s, live = %s, queue = %s, due = %s, value = %s %s returning id",
			op(), st.arg("bigint", c.owner), st.arg("boolean", c.live), st.arg("smallint", c.queue), st.arg("bigint", c.due),
			st.arg("bytea", s.sealValue(tablePush, pushKey(ch.id, next.seq), encoded)), swap))
	}
	ch.end(st, s, w.push, p)
	if !p.next.Live() {
		next.payload = nil
	}
	if err := ch.putGrant(st, s, p); err != nil {
		return nil, nil, err
	}
	mail.write(st, s)
	if err := ch.db.addMessages(st, s, p.entry); err != nil {
		return nil, nil, err
	}
	if p.next.Seq != w.push.Seq {
		err = s.addEntries(st, ch.id, w.push.Seq, []record.Entry{p.entry}, op())
	}
	return st, &next, err
}

// end adds what follows from the end of a push: the payload goes, the files become
// orphans, and their sender has room again.
func (ch *pushChange) end(st *statement, s sealer, was record.Push, p *plan) {
	if was.Live() && !p.next.Live() {
		st.part("y", "delete from payload where id in (select id from p)")
	}
	if was.HoldsFiles() && !p.next.HoldsFiles() {
		releaseFiles(st)
	}
	ch.db.addRoom(st, was, was.Room(), p.next.Room(), roomAll)
}

// releaseFiles makes orphans of the chunks of a push, and ends its grants.
func releaseFiles(st *statement) {
	st.part("f", "insert into orphan (id) select id from p on conflict do nothing")
	st.part("g", "delete from grants where id in (select id from p)")
}

// purge removes a push with all its rows.
func (ch *pushChange) purge(st *statement, swap string, was record.Push) {
	st.part("p", "delete from push "+swap+" returning id")
	st.part("y", "delete from payload where id in (select id from p)")
	st.part("e", "delete from audit where id in (select id from p)")
	if was.HoldsFiles() {
		releaseFiles(st)
	}
	ch.db.addRoom(st, was, was.Room(), record.Room{}, roomAll)
}

// putGrant adds the grant that a plan issues or changes. A new one takes the place of
// those of its push that have ended.
func (ch *pushChange) putGrant(st *statement, s sealer, p *plan) error {
	g := p.grant
	if i := p.entry.Grant; i != nil && p.next.HoldsFiles() {
		g = &i.Grant
		st.part("s", fmt.Sprintf("delete from grants where id in (select id from p) and ends <= %s and digest <> %s",
			st.arg("bigint", milliseconds(i.Ended)), st.arg("bytea", g.Digest[:])))
	}
	if g == nil {
		return nil
	}
	v, err := s.seal(tableGrants, g.Digest[:], *g)
	if err != nil {
		return err
	}
	st.part("t", fmt.Sprintf(`insert into grants (id, digest, ends, value) select id, %s, %s, %s from p
		on conflict (id, digest) do update set ends = excluded.ends, value = excluded.value`,
		st.arg("bytea", g.Digest[:]), st.arg("bigint", milliseconds(g.ExpiresAt)), st.arg("bytea", v)))
	return nil
}

func messageKey(m record.Message) []byte {
	return binary.BigEndian.AppendUint64(uint64Key(uint64(milliseconds(m.NextAt))), m.Number)
}
