package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// View reads tables.
func (db *DB) View(ctx context.Context, read func(record.View) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			t := &tableTx{sealer: s, db: db, ctx: ctx, conn: c}
			return t.outcome(read(t))
		})
	})
}

// Update changes tables, in the order of all changes that write an event.
func (db *DB) Update(ctx context.Context, do func(record.Tx) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		t := &tableTx{sealer: a.sealer, db: db, ctx: ctx, conn: c, change: a}
		return t.outcome(do(t))
	})
}

// Touch changes rows on which nothing else depends, each if it is unchanged since it was read.
func (db *DB) Touch(ctx context.Context, of *record.Table, keys [][]byte, change func(record.Record) (record.Record, error)) (n int, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	tried := false
	err = db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		t := &tableTx{sealer: s, db: db, ctx: ctx, conn: c}
		found, err := t.All(of, keys)
		if err != nil {
			return t.outcome(err)
		}
		var b pgx.Batch
		for _, r := range found {
			if err := t.touch(&b, of, r, change); err != nil {
				return decide(err)
			}
		}
		n = len(found)
		if b.Len() == 0 {
			if tried { // an earlier attempt may have written it
				return confirm(ctx, c, record.ID{})
			}
			return nil
		}
		tried = true
		rows, err := queued(ctx, c, &b)
		if err == nil && slices.Contains(rows, 0) {
			err = db.touchedElsewhere(ctx, c, s)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// A tableTx is an attempt of an operation over tables.
type tableTx struct {
	sealer
	db     *DB
	ctx    context.Context
	conn   *pgxpool.Conn
	change *change
	broken error             // a failure of the connection, which overrides the error of the operation
	stored map[string][]byte // rows that were read, by table and key
}

// outcome is the error of an attempt whose operation returned err.
func (t *tableTx) outcome(err error) error {
	if t.broken != nil {
		return t.broken
	}
	return decide(err)
}

// row returns the row of a record that was read, or nil.
func (t *tableTx) row(of *record.Table, key []byte) []byte {
	return t.stored[layouts[of].name+string(key)]
}

// fail stores an error that is not a decision.
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
	}, l.selects("")+" "+rest, args...)
	return list, t.fail(err)
}

// Get returns the record under a key, or record.ErrNotFound.
func (t *tableTx) Get(of *record.Table, key []byte) (record.Record, error) {
	return t.Find(of, nil, key)
}

// Find returns the record that an index has for a key, or record.ErrNotFound.
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
	compare, order := ">", " asc"
	if r.Reverse {
		compare, order = "<", " desc"
	}
	columns, args, ok := l.parts(r.By, r.Prefix)
	conditions := []string{"true"}
	if len(columns) > 0 {
		conditions = append(conditions, where(columns, 1))
	}
	if len(r.After) > 0 {
		all, after, okToo := l.parts(r.By, r.After)
		ok = ok && okToo
		conditions = append(conditions, "("+names(all)+") "+compare+" ("+arguments(all, len(args)+1)+")")
		args = append(args, after...)
	}
	if !ok {
		return nil, nil
	}
	args = append(args, r.Skip, r.Limit)
	return t.query(of, fmt.Sprintf("where %s order by %s offset $%d limit $%d", strings.Join(conditions, " and "),
		strings.Join(l.keys[r.By], order+", ")+order, len(args)-1, len(args)), args...)
}

// Last returns the last number that the table assigned.
func (t *tableTx) Last(of *record.Table) (uint64, error) {
	h, _, err := loadHead(t.ctx, t.conn, t.sealer)
	if err != nil {
		return 0, t.fail(err)
	}
	if of == record.AdminEvents.Table {
		return h.Last.Number, nil
	}
	return h.numbers[of], nil
}

// Next assigns a number of the table.
func (t *tableTx) Next(of *record.Table) (uint64, error) {
	if of == record.Messages.Table {
		return t.db.numbers.next(), nil
	}
	t.change.head.numbers[of]++
	return t.change.head.numbers[of], nil
}

// Put stores a record, unless it is unchanged.
func (t *tableTx) Put(of *record.Table, r record.Record) error {
	l, key := layouts[of], r.Key()
	row, err := t.seal(l.name, key, r)
	if err != nil {
		return err
	}
	old, there := t.stored[l.name+string(key)]
	switch {
	case !there:
		var columns [][2]string
		var values []any
		for _, c := range l.columns {
			columns, values = append(columns, [2]string{c.name, c.kind}), append(values, c.of(r))
		}
		for _, c := range l.beside {
			columns, values = append(columns, [2]string{c.name, c.kind}), append(values, c.value)
		}
		t.change.insert(l.name, append(columns, [2]string{"value", bytea}), append(values, row)...)
	case bytes.Equal(old, row):
		return nil
	default:
		if of == record.Quotas.Table {
			t.change.quotas = append(t.change.quotas, key)
			t.change.counts = append(t.change.counts, old)
		}
		text, args := l.update(key, r, row, 2)
		t.change.write(text, args...)
	}
	t.change.planned = true
	return nil
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

// Reserve refuses n bytes if there is no space.
func (t *tableTx) Reserve(int) error { return t.fail(t.db.mayAddOn(t.ctx, t.conn)) }

// Disown removes the quota of an account, and its row of room. The account's row is locked
// first, so that no push is created for it meanwhile.
func (t *tableTx) Disown(id record.AccountID) error {
	a, owner := t.change, int64(id)
	a.before = append(a.before, func(b *pgx.Batch) { b.Queue("select from account where id = $1 for update", owner) })
	a.onlyIf, a.onlyOn, a.refuse = "not exists (select from push where owner = $6::bigint and owner <> 0)", []any{owner}, decide(record.ErrExists)
	a.write("delete from quota where of = $2::bytea", record.Quota{Of: id}.Key())
	a.write("delete from room where key = $2::bytea", accountRoom(id))
	return nil
}

// All returns the existing records among the keys.
func (t *tableTx) All(of *record.Table, keys [][]byte) ([]record.Record, error) {
	columns := layouts[of].rowKey()
	args, lists := make([]any, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		args[i], lists[i] = c.values(keys), fmt.Sprintf("$%d::%s[]", i+1, c.kind)
	}
	return t.query(of, fmt.Sprintf("where (%s) in (select * from unnest(%s))", names(columns), strings.Join(lists, ", ")), args...)
}

// touch adds a statement that changes or removes a record that was read, if its row is unchanged;
// none if the record does not change.
func (t *tableTx) touch(b *pgx.Batch, of *record.Table, r record.Record, change func(record.Record) (record.Record, error)) error {
	next, err := change(r)
	if err != nil {
		return err
	}
	l, key := layouts[of], r.Key()
	old := t.stored[l.name+string(key)]
	columns, args, _ := l.parts(nil, key)
	text := "delete from " + l.name + " where " + where(columns, 1)
	if next != nil {
		row, err := t.seal(l.name, next.Key(), next)
		if err != nil || bytes.Equal(row, old) {
			return err
		}
		text, args = l.update(key, next, row, 1)
	}
	args = append(args, old, t.version)
	b.Queue(fmt.Sprintf("%s and value = $%d::bytea and (select floor from ring) <= $%d::bigint", text, len(args)-1, len(args)), args...)
	return nil
}

// touchedElsewhere says why a row was not changed: another change was first, or the keys
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
