package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A layout says in which columns a table has the keys of its records. Beside them it has the
// column value: the row of the record.
type layout struct {
	name    string
	columns []keyColumn
	keys    map[*record.Index][]string // the columns that make up a key, in their order; nil: the key of the row
}

// A keyColumn has a part of a record's keys.
type keyColumn struct {
	name, kind string
	by         *record.Index // whose keys; nil: the key of the row
	at         int           // where in the key the part begins
}

// The kinds of columns: a number of eight bytes, a whole key, and all keys of an index.
const (
	bigint = "bigint"
	bytea  = "bytea"
	byteas = "bytea[]"
)

var layouts = map[*record.Table]*layout{
	record.Accounts.Table: {
		tableAccount,
		[]keyColumn{{"id", bigint, nil, 0}, {"email", bytea, record.AccountsByEmail, 0}, {"identities", byteas, record.AccountsByIdentity, 0}},
		map[*record.Index][]string{nil: {"id"}, record.AccountsByEmail: {"email"}, record.AccountsByIdentity: {"identities"}},
	},
	record.Sessions.Table: {
		tableSession,
		[]keyColumn{{"digest", bytea, nil, 0}, {"owner", bigint, record.SessionsByOwner, 0}, {"id", bigint, record.SessionsByOwner, 8}},
		map[*record.Index][]string{nil: {"digest"}, record.SessionsByOwner: {"owner", "id"}},
	},
	record.Tokens.Table: {
		tableToken,
		[]keyColumn{{"digest", bytea, nil, 0}, {"owner", bigint, record.TokensByOwner, 0}, {"id", bigint, record.TokensByID, 0}},
		map[*record.Index][]string{nil: {"digest"}, record.TokensByOwner: {"owner", "id"}, record.TokensByID: {"id"}},
	},
	record.Hooks.Table: {
		tableHook,
		[]keyColumn{{"owner", bigint, nil, 0}, {"id", bigint, nil, 8}},
		map[*record.Index][]string{nil: {"owner", "id"}},
	},
	record.AdminEvents.Table: {
		tableEvent,
		[]keyColumn{{"number", bigint, nil, 0}},
		map[*record.Index][]string{nil: {"number"}},
	},
}

// of returns what the column has of a record.
func (c keyColumn) of(r record.Record) any {
	keys := [][]byte{r.Key()}
	if c.by != nil {
		keys = c.by.Keys(r)
	}
	switch c.kind {
	case bigint:
		return int64(binary.BigEndian.Uint64(keys[0][c.at:]))
	case bytea:
		return keys[0]
	default:
		return append([][]byte{}, keys...)
	}
}

// parts are the columns that a key or its beginning has, and their values. ok is false if no
// row has such a number.
func (l *layout) parts(by *record.Index, key []byte) (columns []keyColumn, values []any, ok bool) {
	for _, name := range l.keys[by] {
		if len(key) == 0 {
			break
		}
		for _, c := range l.columns {
			if c.name != name {
				continue
			}
			columns = append(columns, c)
			switch c.kind {
			case bigint:
				n := binary.BigEndian.Uint64(key)
				if n > math.MaxInt64 {
					return nil, nil, false
				}
				values, key = append(values, int64(n)), key[8:]
			case bytea:
				values, key = append(values, key), nil
			default:
				values, key = append(values, [][]byte{key}), nil
			}
		}
	}
	return columns, values, true
}

// where is the condition that columns have values, which are the arguments from first on.
func where(columns []keyColumn, first int) string {
	var all []string
	for i, c := range columns {
		is := "="
		if c.kind == byteas {
			is = "@>"
		}
		all = append(all, fmt.Sprintf("%s %s $%d::%s", c.name, is, first+i, c.kind))
	}
	return strings.Join(all, " and ")
}

// names lists the names of the columns.
func names(columns []keyColumn) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

func (l *layout) selects() string { return "select " + names(l.columns) + ", value from " + l.name }

// scan reads the columns of a row, which must agree with its record, and the row.
func (l *layout) scan(s sealer, of *record.Table, r pgx.Row) (one record.Record, stored []byte, err error) {
	to := make([]any, 0, len(l.columns)+1)
	for _, c := range l.columns {
		switch c.kind {
		case bigint:
			to = append(to, new(int64))
		case bytea:
			to = append(to, new([]byte))
		default:
			to = append(to, new([][]byte))
		}
	}
	if err := r.Scan(append(to, &stored)...); err != nil {
		return nil, nil, err
	}
	var key []byte
	for i, c := range l.columns {
		switch v := to[i].(type) {
		case *int64:
			if c.by == nil {
				key = binary.BigEndian.AppendUint64(key, uint64(*v))
			}
		case *[]byte:
			if c.by == nil {
				key = append(key, *v...)
			}
		}
	}
	value, err := s.open(l.name, key, stored)
	if err != nil {
		return nil, nil, err
	}
	if one, err = of.Read(key, value); err != nil {
		return nil, nil, decide(fmt.Errorf("%w: %s: %w", record.ErrCorrupt, l.name, err))
	}
	for i, c := range l.columns {
		if !reflect.DeepEqual(reflect.ValueOf(to[i]).Elem().Interface(), c.of(one)) {
			return nil, nil, mismatch(l.name, c.name)
		}
	}
	return one, stored, nil
}

// account reads an account and its row, or returns record.ErrNotFound.
func (s sealer) account(ctx context.Context, c *pgxpool.Conn, id record.AccountID) (record.Account, []byte, error) {
	t := &tableTx{sealer: s, ctx: ctx, conn: c}
	key := uint64Key(uint64(id))
	a, err := record.Accounts.Get(t, key)
	return a, t.stored[tableAccount+string(key)], t.outcome(err)
}

// View reads tables.
func (db *DB) View(ctx context.Context, read func(record.View) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			t := &tableTx{sealer: s, ctx: ctx, conn: c}
			return t.outcome(read(t))
		})
	})
}

// Update changes tables, in the order of all changes that come with an event.
func (db *DB) Update(ctx context.Context, do func(record.Tx) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		t := &tableTx{sealer: a.sealer, ctx: ctx, conn: c, change: a}
		return t.outcome(do(t))
	})
}

// Touch changes rows that nothing else depends on, each where it is as it was read.
func (db *DB) Touch(ctx context.Context, of *record.Table, keys [][]byte, change func(record.Record) record.Record) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		t := &tableTx{sealer: s, ctx: ctx, conn: c}
		for _, k := range keys {
			if err := t.touch(db, of, k, change); err != nil {
				return t.outcome(err)
			}
		}
		return nil
	})
}

// A tableTx is an attempt of an operation over tables.
type tableTx struct {
	sealer
	ctx    context.Context
	conn   *pgxpool.Conn
	change *change
	broken error             // of the way to the database: what the operation makes of it does not count
	stored map[string][]byte // rows that were read, by table and key
}

// outcome is the error of an attempt whose operation returned err.
func (t *tableTx) outcome(err error) error {
	if t.broken != nil {
		return t.broken
	}
	return decide(err)
}

// fail keeps an error that is no decision.
func (t *tableTx) fail(err error) error {
	if err != nil && !isOwn(err) && t.broken == nil {
		t.broken = err
	}
	return err
}

// query returns the records that a condition selects.
func (t *tableTx) query(of *record.Table, rest string, args ...any) ([]record.Record, error) {
	l := layouts[of]
	list, err := collect(t.ctx, t.conn, func(r pgx.CollectableRow) (record.Record, error) {
		one, stored, err := l.scan(t.sealer, of, r)
		if err == nil {
			if t.stored == nil {
				t.stored = make(map[string][]byte)
			}
			t.stored[l.name+string(one.Key())] = stored
		}
		return one, err
	}, l.selects()+" "+rest, args...)
	return list, t.fail(err)
}

// Get returns the record under a key, or record.ErrNotFound.
func (t *tableTx) Get(of *record.Table, key []byte) (record.Record, error) {
	return t.Find(of, nil, key)
}

// Find returns the record to which an index leads, or record.ErrNotFound.
func (t *tableTx) Find(of *record.Table, by *record.Index, key []byte) (record.Record, error) {
	columns, values, ok := layouts[of].parts(by, key)
	if !ok || len(columns) == 0 {
		return nil, record.ErrNotFound
	}
	list, err := t.query(of, "where "+where(columns, 1), values...)
	if err == nil && len(list) == 0 {
		err = record.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// List returns the records of a range.
func (t *tableTx) List(of *record.Table, r record.Range) ([]record.Record, error) {
	l := layouts[of]
	whole := strings.Join(l.keys[r.By], ", ")
	columns, values, ok := l.parts(r.By, r.Prefix)
	conditions := []string{"true"}
	if len(columns) > 0 {
		conditions = append(conditions, where(columns, 1))
	}
	if len(r.After) > 0 {
		all, behind, okToo := l.parts(r.By, r.After)
		ok = ok && okToo
		var from []string
		for i, c := range all {
			from = append(from, fmt.Sprintf("$%d::%s", len(values)+i+1, c.kind))
		}
		conditions = append(conditions, "("+whole+") > ("+strings.Join(from, ", ")+")")
		values = append(values, behind...)
	}
	if !ok {
		return nil, nil
	}
	values = append(values, r.Limit)
	return t.query(of, fmt.Sprintf("where %s order by %s limit $%d", strings.Join(conditions, " and "), whole, len(values)), values...)
}

// Last returns the last number that the table gave out.
func (t *tableTx) Last(of *record.Table) (uint64, error) {
	h, _, err := loadHead(t.ctx, t.conn, t.sealer)
	if err != nil {
		return 0, t.fail(err)
	}
	return *h.last(of), nil
}

// last is the last number that a table gave out.
func (h *head) last(of *record.Table) *uint64 {
	switch of {
	case record.Accounts.Table:
		return &h.account
	case record.Sessions.Table:
		return &h.session
	case record.Tokens.Table:
		return &h.token
	case record.Hooks.Table:
		return &h.hook
	default:
		return &h.Last.Number
	}
}

// Next gives out a number of the table.
func (t *tableTx) Next(of *record.Table) (uint64, error) {
	n := t.change.head.last(of)
	*n++
	return *n, nil
}

// Put keeps a record. It writes nothing that is as it was read.
func (t *tableTx) Put(of *record.Table, r record.Record) error {
	l, key := layouts[of], r.Key()
	row, err := t.seal(l.name, key, r)
	if err != nil {
		return err
	}
	old, there := t.stored[l.name+string(key)]
	switch {
	case !there:
		columns, values := make([][2]string, 0, len(l.columns)+1), make([]any, 0, len(l.columns)+1)
		for _, c := range l.columns {
			columns, values = append(columns, [2]string{c.name, c.kind}), append(values, c.of(r))
		}
		t.change.insert(l.name, append(columns, [2]string{"value", bytea}), append(values, row)...)
	case bytes.Equal(old, row):
		return nil
	default:
		text, args := l.update(r, row, 2)
		t.change.write(text, args...)
	}
	t.change.planned = true
	return nil
}

// update is a statement that replaces a row, with its arguments from first on.
func (l *layout) update(r record.Record, row []byte, first int) (text string, args []any) {
	var set []string
	for _, c := range l.columns {
		if c.by != nil {
			args = append(args, c.of(r))
			set = append(set, fmt.Sprintf("%s = $%d::%s", c.name, first+len(args)-1, c.kind))
		}
	}
	args = append(args, row)
	set = append(set, fmt.Sprintf("value = $%d::bytea", first+len(args)-1))
	columns, values, _ := l.parts(nil, r.Key())
	return "update " + l.name + " set " + strings.Join(set, ", ") + " where " + where(columns, first+len(args)), append(args, values...)
}

// Delete removes a record.
func (t *tableTx) Delete(of *record.Table, r record.Record) error {
	l := layouts[of]
	columns, values, _ := l.parts(nil, r.Key())
	t.change.write("delete from "+l.name+" where "+where(columns, 2), values...)
	t.change.planned = true
	return nil
}

// Tell appends an event to the instance log.
func (t *tableTx) Tell(e record.AdminEvent) error { return t.change.tell(e) }

// Send puts mail into the outbox, and counts it.
func (t *tableTx) Send(m *record.MailBatch) error {
	t.change.planned = true
	return t.fail(t.change.sendMail(t.ctx, t.conn, m))
}

// Disown removes the requests of an account, its quota, and its row of room. The account's row
// is locked first, so that no push and no request is created for it meanwhile.
func (t *tableTx) Disown(id record.AccountID) error {
	a, owner := t.change, int64(id)
	a.before = append(a.before, func(b *pgx.Batch) { b.Queue("select from account where id = $1 for update", owner) })
	a.onlyIf, a.onlyOn, a.refuse = "not exists (select from push where owner = $6::bigint and owner <> 0)", []any{owner}, decide(record.ErrExists)
	a.write("delete from request where owner = $2::bigint", owner)
	a.write("delete from quota where of = $2::bytea", record.Quota{Of: id}.Key())
	a.write("delete from room where key = $2::bytea", accountRoom(id))
	return nil
}

// touch changes a row, or removes it, if it is there.
func (t *tableTx) touch(db *DB, of *record.Table, key []byte, change func(record.Record) record.Record) error {
	r, err := t.Get(of, key)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	l := layouts[of]
	old := t.stored[l.name+string(key)]
	columns, args, _ := l.parts(nil, key)
	text := "delete from " + l.name + " where " + where(columns, 1)
	if next := change(r); next != nil {
		row, err := t.seal(l.name, key, next)
		if err != nil || bytes.Equal(row, old) {
			return err
		}
		text, args = l.update(next, row, 1)
	}
	args = append(args, old, t.version)
	done, err := t.conn.Exec(t.ctx, fmt.Sprintf("%s and value = $%d::bytea and (select floor from ring) <= $%d::bigint", text, len(args)-1, len(args)), args...)
	if err == nil && done.RowsAffected() == 0 {
		err = db.touchedElsewhere(t.ctx, t.conn, t.sealer)
	}
	return t.fail(err)
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
