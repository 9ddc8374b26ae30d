package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// mailPlan has the changes of quotas by a batch of mail, and the rows that they are based on. The
// zero value is no mail.
type mailPlan struct {
	batch  *record.MailBatch // nil: none, or it was left out
	sender record.AccountID
	row    []byte     // of the sender; nil: none was read
	quotas []quotaRow // by key: rows are locked in this order
}

// A quotaRow is the old and the new row of a count; nil: there is none, or it does not change.
type quotaRow struct{ key, old, next []byte }

// planMail decides whether mail may be sent. It leaves out optional mail that may not be sent; the
// rows of that decision are still compared.
func (db *DB) planMail(ctx context.Context, c *pgxpool.Conn, s sealer, batch *record.MailBatch) (m mailPlan, err error) {
	if batch == nil {
		return m, nil
	}
	t := &tableTx{sealer: s, db: db, ctx: ctx, conn: c}
	sent, counts, err := batch.Plan(t)
	if err := t.outcome(err); err != nil {
		return m, err
	}
	m.batch, m.sender, m.row = sent, batch.Sender, t.row(record.Accounts.Table, uint64Key(uint64(batch.Sender)))
	for _, q := range batch.Quotas {
		m.quotas = append(m.quotas, quotaRow{key: q.Key(), old: t.row(record.Quotas.Table, q.Key())})
	}
	slices.SortFunc(m.quotas, func(a, b quotaRow) int { return bytes.Compare(a.key, b.key) })
	for i, one := range counts {
		if m.quotas[i].next, err = s.seal(tableQuota, one.Key(), one); err != nil {
			return m, decide(err)
		}
	}
	return m, nil
}

// rows lists the quotas for which of returns a value, with the values.
func (m mailPlan) rows(of func(q quotaRow) []byte) (keys, rows [][]byte) {
	for _, q := range m.quotas {
		if row := of(q); row != nil {
			keys, rows = append(keys, q.key), append(rows, row)
		}
	}
	return keys, rows
}

func wasRead(q quotaRow) []byte { return q.old }

// newRows returns the values for existing rows, or for new ones.
func newRows(there bool) func(q quotaRow) []byte {
	return func(q quotaRow) []byte {
		if (q.old != nil) != there {
			return nil
		}
		return q.next
	}
}

// lock adds the parts u (the account) and q (quotas). Each returns a row for each row that has not changed
// since it was read.
func (m mailPlan) lock(st *statement) {
	if m.row == nil {
		st.part("u", "select 1")
	} else {
		st.part("u", "select 1 from account where id = "+st.arg("bigint", int64(m.sender))+" and value = "+st.arg("bytea", m.row)+" for key share")
	}
	keys, rows := m.rows(wasRead)
	if len(keys) == 0 {
		st.part("q", "select 1 where false")
		return
	}
	of, values := st.arg("bytea[]", keys), st.arg("bytea[]", rows)
	st.part("l", fmt.Sprintf("select of, value from quota where of = any (%s) order by of for update", of))
	// A locked row may have changed since the statement began, so it is compared after the lock.
	st.part("q", fmt.Sprintf("select 1 from l join unnest(%s, %s) as v (of, value) using (of, value)", of, values))
}

// locked is how many rows the parts of lock have now, and must have for the statement to
// write anything: m.locks().
const locked = "((select count(*) from u) + (select count(*) from q))"

func (m mailPlan) locks() int {
	keys, _ := m.rows(wasRead)
	return 1 + len(keys)
}

// write adds the parts that count. The first row of a quota cannot be added twice: the
// error ends the whole statement.
func (m mailPlan) write(st *statement) {
	if keys, rows := m.rows(newRows(true)); len(keys) > 0 {
		st.part("qu", fmt.Sprintf("update quota t set value = v.value from p, unnest(%s, %s) as v (of, value) where t.of = v.of",
			st.arg("bytea[]", keys), st.arg("bytea[]", rows)))
	}
	if keys, rows := m.rows(newRows(false)); len(keys) > 0 {
		st.part("qi", fmt.Sprintf("insert into quota (of, value) select v.of, v.value from p, unnest(%s, %s) as v (of, value) order by v.of",
			st.arg("bytea[]", keys), st.arg("bytea[]", rows)))
	}
}

// messageRows are the rows of new messages, by column.
type messageRows struct {
	numbers, nexts, to []int64
	routes             []int16
	values             [][]byte
}

const (
	messageInsert = "number, next_at, route, recipient, lease, holder, value"
	messageSelect = "v.number, v.next_at, v.route, v.recipient, 0, '', v.value"
)

func (db *DB) messageRows(s sealer, all []record.Message) (r messageRows, err error) {
	for _, m := range all {
		m.Number = db.numbers.next()
		v, err := s.seal(tableOutbox, m.Key(), m)
		if err != nil {
			return r, err
		}
		r.numbers, r.nexts, r.to = append(r.numbers, int64(m.Number)), append(r.nexts, milliseconds(m.NextAt)), append(r.to, int64(m.To))
		r.routes, r.values = append(r.routes, int16(m.Route)), append(r.values, v)
	}
	return r, nil
}

// addMessages adds the messages of an entry to the outbox: its mail, and its messages
// unless there is no room for those.
func (db *DB) addMessages(st *statement, s sealer, e record.Entry) error {
	all := e.Messages
	if e.Mail != nil {
		all = append(slices.Clone(all), e.Mail.Messages...)
	}
	if len(all) == 0 {
		return nil
	}
	r, err := db.messageRows(s, all)
	if err != nil {
		return err
	}
	st.part("m", fmt.Sprintf("insert into outbox (%s) select %s from p, unnest(%s, %s, %s, %s, %s) as v (number, next_at, route, recipient, value)",
		messageInsert, messageSelect, st.arg("bigint[]", r.numbers), st.arg("bigint[]", r.nexts), st.arg("smallint[]", r.routes), st.arg("bigint[]", r.to), st.arg("bytea[]", r.values)))
	return nil
}
