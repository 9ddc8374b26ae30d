package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

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
	_, c, err = db.changePush(ctx, id, func(_ context.Context, _ *pgxpool.Conn, _ sealer, w row) (plan, error) {
		next, e, err := r.Apply(w.push)
		if err == nil && full != nil && next.Seq != w.push.Seq && e.Kind.Dispensable() {
			next = w.push.WithoutEntry(next)
		}
		return plan{next: next, entry: e}, err
	})
	return c, err
}

// A plan is the change of a push by a step.
type plan struct {
	next  record.Push
	entry record.Entry // appended if next counts it
	grant *record.Grant
	drop  *record.Grant // a grant to remove; then nothing else happens
}

// A planner plans one attempt for the present row. Its result may be discarded, and it may run
// again.
type planner func(ctx context.Context, c *pgxpool.Conn, s sealer, w row) (plan, error)

// changePush calls a planner with the present push, and writes the plan if the push is still the
// same then; otherwise it begins again. It returns the plan that was written.
func (db *DB) changePush(ctx context.Context, id record.ID, decideOn planner) (plan, record.Change, error) {
	t, ctx, err := inTurn(ctx, db, &db.turns, id)
	if err != nil {
		return plan{}, record.Change{}, err
	}
	defer db.turns.leave(id, t)
	ch := &pushChange{db: db, id: id, op: newOp(), decide: decideOn}
	if w, ok := db.recent.take(id); ok && !t.waited { // otherwise another change followed the read
		ch.known = &w
	}
	if err := db.underKeys(ctx, ch.try); err != nil {
		return plan{}, record.Change{}, err
	}
	return ch.plan, ch.done, nil
}

// A pushChange is a running change of a push.
type pushChange struct {
	db     *DB
	id     record.ID
	op     opName // the same for each attempt: at most one of them can succeed
	decide planner
	known  *row // the row from an earlier read; nil: none

	trials []trial // attempts whose outcome is unknown
	plan   plan
	done   record.Change // what plan does
}

// A trial is an attempt of a change. At most one of them can succeed.
type trial struct {
	was   int64  // the number of changes that the row must have
	entry uint32 // the number of the audit entry that it appends, if it appends one
	plan  plan
	done  record.Change
}

// appends reports whether a trial appends an audit entry, which proves it from then on.
func (tr trial) appends() bool {
	return tr.plan.next.State != record.Purged && tr.plan.next.Seq != tr.entry
}

// try makes one attempt. The first uses the row of an earlier read, if there is one. That may be
// out of date, so its decision counts only if its write succeeds, which compares the row.
func (ch *pushChange) try(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if w := ch.known; w != nil && len(ch.trials) == 0 && w.floor <= s.version {
		ch.known = nil
		if p, err := ch.decide(ctx, c, s, *w); err == nil && ch.writes(*w, p) {
			if err := ch.write(ctx, c, s, *w, p); !isOwn(err) {
				return err
			}
		}
	}
	w, err := ch.db.load(ctx, c, s, ch.id)
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

// writes reports whether a plan writes anything to the row of the push.
func (ch *pushChange) writes(w row, p plan) bool {
	if p.drop != nil {
		return false
	}
	encoded, err := p.next.AppendBinary(nil)
	return p.next.State == record.Purged || err == nil && !bytes.Equal(encoded, w.record)
}

// decideUnless marks a planner's error as final, unless the connection failed.
func decideUnless(err error) error {
	if o := outcome(err); errors.Is(o, errAgain) || errors.Is(o, errUnknown) {
		if _, own := errors.AsType[*wireError](err); own {
			return err
		}
	}
	return decide(err)
}

// A wireError marks an error of a planner's query.
type wireError struct{ error }

func (e *wireError) Unwrap() error { return e.error }

// settle finds out whether an earlier attempt was committed, and forgets those that can never be. w
// is the present push.
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

// settleOne reports whether an attempt was committed, or can never be: its name is in the entry
// that it appended, or in the push if it appended none.
func (ch *pushChange) settleOne(ctx context.Context, c *pgxpool.Conn, w row, gone bool, tr trial) (done, over bool, err error) {
	switch {
	case gone: // the push was purged, by this attempt or by another attempt
		return tr.plan.next.State == record.Purged, true, nil
	case w.seq == tr.was:
		return false, false, nil // it may still be committed, before the next attempt or after it
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

// write writes a plan, if the row of the push is still the one that was planned for.
func (ch *pushChange) write(ctx context.Context, c *pgxpool.Conn, s sealer, w row, p plan) error {
	ch.plan = p
	ch.done = record.Change{Push: p.next, Entry: p.entry, Payload: w.payload}
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
	st, err := ch.statement(s, w, &p, mail)
	if err != nil {
		return decide(err)
	}
	ch.done.Entry.Messages, ch.done.Entry.Mail = p.entry.Messages, p.entry.Mail
	if st == nil {
		return nil
	}
	var done int
	before := ch.trials // an earlier attempt may have been committed just now, so that this one finds another row
	ch.trials = append(slices.Clip(before), trial{w.seq, w.push.Seq, p, ch.done})
	if err := c.QueryRow(ctx, st.text("select count(*) from p"), ch.db.often(c, st.args...)...).Scan(&done); err != nil {
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
	return nil
}

// statement makes the one statement of an attempt; nil if there is nothing to write. Its part p is
// the compare-and-swap: if that has no row, the other parts do nothing. It returns the new row; nil
// if the push is removed.
//
// If a live push does not change, its payload is about to be delivered: then a write without a
// change confirms that this server may still write.
func (ch *pushChange) statement(s sealer, w row, p *plan, mail mailPlan) (*statement, error) {
	st := &statement{}
	id, seq := st.arg("bytea", ch.id[:]), st.arg("bigint", w.seq)
	swap := "where id = " + id + " and seq = " + seq + " and (select floor from ring) <= " + st.arg("bigint", s.version)
	if mail.row != nil || mail.locks() > 1 {
		mail.lock(st)
		swap += fmt.Sprintf(" and %s = %d", locked, mail.locks())
	}
	encoded, err := p.next.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	op := func() string { return st.arg("bytea", ch.op[:]) }
	switch {
	case p.drop != nil:
		st.part("p", "select id from push "+swap+" for update")
		st.part("g", "delete from grants where id in (select id from p) and digest = "+st.arg("bytea", p.drop.Digest[:]))
		return st, nil
	case p.next.State == record.Purged:
		ch.purge(st, swap, w.push)
		mail.write(st)
		return st, ch.db.addMessages(st, s, p.entry)
	case bytes.Equal(encoded, w.record):
		if !w.push.Live() && p.grant == nil && p.entry.Grant == nil && len(p.entry.Messages) == 0 && mail.batch == nil {
			return nil, nil //nolint:nilnil // nothing to write
		}
		st.part("p", "update push set op = "+op()+" "+swap+" returning id")
	default:
		c := columnsOf(p.next)
		st.part("p", fmt.Sprintf("update push set seq = seq + 1, op = %s, owner = %s, live = %s, queue = %s, due = %s, value = %s %s returning id",
			op(), st.arg("bigint", c.owner), st.arg("boolean", c.live), st.arg("smallint", c.queue), st.arg("bigint", c.due),
			st.arg("bytea", s.sealValue(tablePush, pushKey(ch.id, w.seq+1), encoded)), swap))
	}
	ch.end(st, s, w.push, p)
	if err := ch.putGrant(st, s, p); err != nil {
		return nil, err
	}
	mail.write(st)
	if err := ch.db.addMessages(st, s, p.entry); err != nil {
		return nil, err
	}
	if p.next.Seq != w.push.Seq {
		err = s.addEntries(st, ch.id, w.push.Seq, []record.Entry{p.entry}, op())
	}
	return st, err
}

// end adds what follows from the end of a push: the payload goes, the files become
// orphans, their grants end, and their sender has room again.
func (ch *pushChange) end(st *statement, s sealer, was record.Push, p *plan) {
	if was.Live() && !p.next.Live() {
		st.part("y", "delete from payload where id in (select id from p)")
	}
	switch {
	case was.HoldsFiles() && !p.next.HoldsFiles():
		releaseFiles(st)
	case !was.GrantsEnd.IsZero() && p.next.GrantsEnd.IsZero():
		dropGrants(st)
	}
	ch.db.addRoom(st, was, was.Room(), p.next.Room(), roomAll)
}

// releaseFiles turns the chunks of a push into orphans, and ends its grants.
func releaseFiles(st *statement) {
	st.part("f", "insert into orphan (id) select id from p on conflict do nothing")
	dropGrants(st)
}

func dropGrants(st *statement) {
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

// putGrant adds the grant that a plan issues or changes. A new grant replaces ended grants of its
// push.
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
