package postgres

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// resealRows is how many rows a step of Reseal reads.
const resealRows = 500

// Reseal rewrites every record that r reseals, or whose tag is not under the newest key. First it
// stops the writes of servers that do not know the newest ring.
func (db *DB) Reseal(ctx context.Context, r record.Resealer, progress func(done, total int64)) (changed int64, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	s := sealer{db.ring.Load()}
	if err := db.raiseFloor(ctx, s); err != nil {
		return 0, err
	}
	read := int64(0)
	for _, t := range resealed(s, r) {
		for last := t.first; ; {
			var n int
			var bytes, rows int64
			err := db.step(ctx, func(ctx context.Context) error {
				return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
					last, n, rows, bytes, err = t.step(ctx, c, s, last)
					return err
				})
			})
			if err != nil {
				return changed, fmt.Errorf("seal %s anew: %w", t.table, err)
			}
			changed, read = changed+rows, read+bytes
			progress(read, 0)
			if n < resealRows {
				break
			}
			if err := ctx.Err(); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// raiseFloor stops the writes of servers that do not know this ring, after running statements have
// ended. It returns record.ErrBusy if these do not end.
func (db *DB) raiseFloor(ctx context.Context, s sealer) error {
	for begun := time.Now(); ; {
		err := db.step(ctx, func(ctx context.Context) error {
			return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
				return pgx.BeginFunc(ctx, c, func(t pgx.Tx) error {
					if err := db.lockWritten(ctx, t); err != nil {
						return err
					}
					raised, err := t.Exec(ctx, "update ring set floor = version where version = $1 and floor <= version", s.version)
					if err == nil && raised.RowsAffected() == 0 {
						err = decide(record.ErrStaleKeys)
					}
					return err
				})
			})
		})
		if !errors.Is(err, record.ErrBusy) || time.Since(begun) > writersEnd || ctx.Err() != nil {
			return err
		}
	}
}

// A resealTable is a table whose rows may be resealed. A walk is in the order of its first column;
// the tag of a row covers key.
type resealTable struct {
	table string
	query string // query for at most $2 rows after $1: the columns of the key, and the value
	first []any  // the key before the first, or its part that has the order
	swap  string // statement that replaces the value $1 by $2, for the key $3 and so on
	scan  func() []any
	key   func(k []any) []byte
	again func(key []any, value []byte) (encoding.BinaryAppender, error)
}

// step reads rows after a key, and writes those that change. It writes a row only if it is
// unchanged since the read; otherwise the next round handles it.
func (t *resealTable) step(ctx context.Context, c *pgxpool.Conn, s sealer, last []any) (next []any, n int, changed, size int64, err error) {
	rows, err := c.Query(ctx, t.query, append(append([]any(nil), last...), resealRows)...)
	if err != nil {
		return last, 0, 0, 0, err
	}
	defer rows.Close()
	var b pgx.Batch
	next = last
	for rows.Next() {
		k := t.scan()
		var stored []byte
		if err := rows.Scan(append(append([]any(nil), k...), &stored)...); err != nil {
			return last, 0, 0, 0, err
		}
		n++
		size += int64(len(stored))
		key := t.key(k)
		value, err := s.open(t.table, key, stored)
		if err != nil {
			return last, 0, 0, 0, err
		}
		again := value
		if r, err := t.again(k, value); err != nil {
			return last, 0, 0, 0, decide(err)
		} else if r != nil {
			if again, err = r.AppendBinary(nil); err != nil {
				return last, 0, 0, 0, decide(err)
			}
		}
		whole := values(k)
		next = whole[:len(t.first)]
		if v, _ := record.RowKeyOf(stored); bytes.Equal(again, value) && v == s.keys.RowVersion() {
			continue
		}
		b.Queue(t.swap, append([]any{stored, s.sealValue(t.table, key, again)}, whole...)...)
	}
	rows.Close()
	if err := rows.Err(); err != nil || b.Len() == 0 {
		return next, n, 0, size, err
	}
	_, err = queued(ctx, c, &b)
	return next, n, int64(b.Len()), size, err
}

// values are what pointers of keys point to.
func values(k []any) (v []any) {
	for _, p := range k {
		switch p := p.(type) {
		case *int64:
			v = append(v, *p)
		case *[]byte:
			v = append(v, bytes.Clone(*p))
		case *string:
			v = append(v, *p)
		}
	}
	return v
}

// decoded reads the record of a row into r, and calls again with it.
func decoded(table string, value []byte, r encoding.BinaryUnmarshaler, again func() (encoding.BinaryAppender, error)) (encoding.BinaryAppender, error) {
	if err := r.UnmarshalBinary(value); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", record.ErrCorrupt, table, err)
	}
	return again()
}

// resealed lists the tables whose rows have tags.
func resealed(s sealer, r record.Resealer) []*resealTable {
	bytesAt := func(k []any, i int) []byte { return *k[i].(*[]byte) }
	numberAt := func(k []any, i int) uint64 { return uint64(*k[i].(*int64)) }
	plain := func([]any, []byte) (encoding.BinaryAppender, error) { return nil, nil } // its records have no sealed parts
	all := []*resealTable{
		resealedPushes(s, r), {
			table: tableAudit, first: []any{[]byte{}, int64(0)}, scan: func() []any { return []any{new([]byte), new(int64)} },
			query: "select id, number, value from audit where (id, number) > ($1, $2) order by id, number limit $3",
			swap:  "update audit set value = $2::bytea where id = $3::bytea and number = $4::bigint and value = $1::bytea",
			key: func(k []any) []byte {
				return binary.BigEndian.AppendUint32(bytes.Clone(bytesAt(k, 0)), uint32(numberAt(k, 1)))
			},
			again: func(k []any, v []byte) (encoding.BinaryAppender, error) {
				var e record.Entry
				return decoded(tableAudit, v, &e, func() (encoding.BinaryAppender, error) { return r.ResealEntry(idOf(bytesAt(k, 0)), e) })
			},
		}, {
			table: tableGrants, first: []any{[]byte{}}, scan: func() []any { return []any{new([]byte)} }, again: plain,
			query: "select digest, value from grants where digest > $1 order by digest limit $2",
			swap:  "update grants set value = $2::bytea where digest = $3::bytea and value = $1::bytea",
			key:   func(k []any) []byte { return bytesAt(k, 0) },
		}, {
			table: tableHead, first: []any{}, scan: func() []any { return nil }, key: func([]any) []byte { return nil }, again: plain,
			query: "select value from head where value is not null limit $1", swap: "update head set value = $2::bytea where value = $1::bytea",
		}, {
			table: tableMeta, first: []any{""}, scan: func() []any { return []any{new(string)} }, again: plain,
			query: "select name, value from meta where name <> 'schema' and name > $1 order by name limit $2",
			swap:  "update meta set value = $2::bytea where name = $3::text and value = $1::bytea",
			key:   func(k []any) []byte { return []byte(*k[0].(*string)) },
		},
	}
	for _, of := range record.Tables() {
		all = append(all, resealedRecords(of, r))
	}
	return all
}

// resealedRecords is a table whose rows are records.
func resealedRecords(of *record.Table, r record.Resealer) *resealTable {
	l := layouts[of]
	columns := l.rowKey()
	t := &resealTable{table: l.name}
	for _, c := range columns {
		t.first = append(t.first, c.least())
	}
	t.scan = func() (to []any) {
		for _, c := range columns {
			to = append(to, c.place())
		}
		return to
	}
	t.key = func(k []any) []byte { return keyIn(columns, k) }
	t.again = func(k []any, v []byte) (encoding.BinaryAppender, error) {
		one, err := of.Read(keyIn(columns, k), v)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", record.ErrCorrupt, l.name, err)
		}
		return r.ResealRecord(one)
	}
	key := names(columns)
	t.query = fmt.Sprintf("select %s, value from %s where (%s) > (%s) order by %s limit $%d", key, l.name, key, arguments(columns, 1), key, len(columns)+1)
	t.swap = fmt.Sprintf("update %s set value = $2::bytea where %s and value = $1::bytea", l.name, where(columns, 3))
	return t
}

func idOf(b []byte) (id record.ID) {
	copy(id[:], b)
	return id
}

// resealedPushes is the table of pushes. A changed row gets another number, which its tag covers.
func resealedPushes(s sealer, r record.Resealer) *resealTable {
	return &resealTable{
		table: tablePush, first: []any{[]byte{}}, scan: func() []any { return []any{new([]byte), new(int64)} },
		query: "select id, seq, value from push where id > $1 order by id limit $2",
		key:   func(k []any) []byte { return pushKey(idOf(*k[0].(*[]byte)), *k[1].(*int64)) },
		swap:  "update push set value = $2::bytea where id = $3::bytea and seq = $4::bigint and value = $1::bytea",
		again: func(k []any, v []byte) (encoding.BinaryAppender, error) {
			p := record.Push{ID: idOf(*k[0].(*[]byte))}
			return decoded(tablePush, v, &p, func() (encoding.BinaryAppender, error) { return r.ResealPush(p) })
		},
	}
}
