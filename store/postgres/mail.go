package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// mailPlan is what sending a batch of mail does to the quotas, and what it was decided by:
// the sender's account and the rows of the quotas, by their keys. The zero value is no mail.
type mailPlan struct {
	batch  *record.MailBatch // nil: none, or it was left out
	sender record.AccountID
	row    []byte // of the sender; nil: none was read
	keys   [][]byte
	old    map[string][]byte // the rows that there are
	values map[string][]byte // the values that shall be
}

// planMail decides whether mail may be sent. Optional mail that may not is left out: what
// that was decided by is compared all the same.
func (db *DB) planMail(ctx context.Context, c *pgxpool.Conn, s sealer, batch *record.MailBatch) (mailPlan, error) {
	if batch == nil {
		return mailPlan{}, nil
	}
	m := mailPlan{batch: batch, sender: batch.Sender}
	err := m.readSender(ctx, c, s)
	if err == nil {
		err = db.mayAddOn(ctx, c)
	}
	if err == nil {
		err = m.count(ctx, c, s)
	}
	refused := errors.Is(err, record.ErrFull) || errors.Is(err, record.ErrQuota) || errors.Is(err, record.ErrUnconfirmed) || errors.Is(err, record.ErrToken)
	if batch.Optional && refused && isOwn(err) {
		m.batch, m.values, err = nil, nil, nil
	}
	return m, err
}

// readSender refuses mail of an account that may not act, or whose address is not
// confirmed.
func (m *mailPlan) readSender(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if m.sender == 0 {
		return nil
	}
	a, row, err := s.account(ctx, c, m.sender)
	if errors.Is(err, record.ErrNotFound) {
		return decide(record.ErrToken)
	}
	if err != nil {
		return err
	}
	m.row = row
	switch {
	case !a.Active():
		return decide(record.ErrToken)
	case a.Unconfirmed:
		return decide(record.ErrUnconfirmed)
	default:
		return nil
	}
}

// count counts mail against its quotas, as they are now.
func (m *mailPlan) count(ctx context.Context, c *pgxpool.Conn, s sealer) error {
	if len(m.batch.Quotas) == 0 {
		return nil
	}
	for _, q := range m.batch.Quotas {
		m.keys = append(m.keys, q.Key())
	}
	slices.SortFunc(m.keys, bytes.Compare) // rows are locked in this order
	m.old, m.values = make(map[string][]byte), make(map[string][]byte)
	t := &tableTx{sealer: s, ctx: ctx, conn: c}
	found, err := t.all(record.Quotas.Table, m.keys)
	if err != nil {
		return t.outcome(err)
	}
	counts := make(map[string]record.QuotaCount)
	for _, r := range found {
		key := string(r.Key())
		counts[key], m.old[key] = r.(record.QuotaCount), t.stored[tableQuota+key]
	}
	for _, q := range m.batch.Quotas {
		now := counts[string(q.Key())]
		day, n, err := q.Count(now.Day, now.N)
		if err != nil {
			return decide(err)
		}
		m.values[string(q.Key())] = pairKey(day, n)
	}
	return nil
}

// read lists the rows that were read, in the order of their keys.
func (m mailPlan) read() (keys, rows [][]byte) {
	for _, k := range m.keys {
		if row := m.old[string(k)]; row != nil {
			keys, rows = append(keys, k), append(rows, row)
		}
	}
	return keys, rows
}

// written lists the rows that are written, in the order of their keys: those that are there
// already, or the others.
func (m mailPlan) written(s sealer, there bool) (keys, rows [][]byte) {
	for _, k := range m.keys {
		if v := m.values[string(k)]; v != nil && (m.old[string(k)] != nil) == there {
			keys, rows = append(keys, k), append(rows, s.sealValue(tableQuota, k, v))
		}
	}
	return keys, rows
}

// lock adds the parts u and q, which have a row for all that is as it was read.
func (m mailPlan) lock(st *statement) {
	if m.row == nil {
		st.part("u", "select 1")
	} else {
		st.part("u", "select 1 from account where id = "+st.arg("bigint", int64(m.sender))+" and value = "+st.arg("bytea", m.row)+" for key share")
	}
	keys, rows := m.read()
	if len(keys) == 0 {
		st.part("q", "select 1 where false")
		return
	}
	of, values := st.arg("bytea[]", keys), st.arg("bytea[]", rows)
	st.part("l", fmt.Sprintf("select of, value from quota where of = any (%s) order by of for update", of))
	// What is locked may have been written since the statement began, so it is compared then.
	st.part("q", fmt.Sprintf("select 1 from l join unnest(%s, %s) as v (of, value) using (of, value)", of, values))
}

// locked is how many rows the parts of lock have now, and must have for the statement to
// write anything: m.locks().
const locked = "((select count(*) from u) + (select count(*) from q))"

func (m mailPlan) locks() int { return 1 + len(m.old) }

// write adds the parts that count. The first row of a quota cannot be added twice: the
// error ends the whole statement.
func (m mailPlan) write(st *statement, s sealer) {
	if keys, rows := m.written(s, true); len(keys) > 0 {
		st.part("qu", fmt.Sprintf("update quota t set value = v.value from p, unnest(%s, %s) as v (of, value) where t.of = v.of",
			st.arg("bytea[]", keys), st.arg("bytea[]", rows)))
	}
	if keys, rows := m.written(s, false); len(keys) > 0 {
		st.part("qi", fmt.Sprintf("insert into quota (of, value) select v.of, v.value from p, unnest(%s, %s) as v (of, value) order by v.of",
			st.arg("bytea[]", keys), st.arg("bytea[]", rows)))
	}
}

// sendMail adds mail to a change. The rows of its quotas are locked first, and must then be
// as they were read; accounts change with the head alone.
func (a *change) sendMail(ctx context.Context, c *pgxpool.Conn, batch *record.MailBatch) error {
	m, err := a.db.planMail(ctx, c, a.sealer, batch)
	if err != nil || m.batch == nil {
		return err
	}
	if keys, rows := m.read(); len(keys) > 0 {
		a.before = append(a.before, func(b *pgx.Batch) {
			b.Queue("select from quota where of = any ($1::bytea[]) order by of for update", keys)
		})
		a.onlyIf = "(select count(*) from quota where (of, value) in (select * from unnest($6::bytea[], $7::bytea[]))) = $8::bigint"
		a.onlyOn = []any{keys, rows, int64(len(keys))}
	}
	if keys, rows := m.written(a.sealer, true); len(keys) > 0 {
		a.write("update quota t set value = v.value from unnest($2::bytea[], $3::bytea[]) as v (of, value) where t.of = v.of", keys, rows)
	}
	if keys, rows := m.written(a.sealer, false); len(keys) > 0 {
		a.write("insert into quota (of, value) select v.of, v.value from unnest($2::bytea[], $3::bytea[]) as v (of, value) where true", keys, rows)
	}
	r, err := a.db.messageRows(a.sealer, m.batch.Messages)
	if err != nil {
		return decide(err)
	}
	a.write("insert into outbox ("+messageInsert+") select "+messageSelect+" from unnest($2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[], $6::bytea[]) as v (number, next_at, route, recipient, value) where true",
		r.numbers, r.nexts, r.routes, r.to, r.values)
	return nil
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
