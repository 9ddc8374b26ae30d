package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

// A layout has the columns of a table for the keys of its records. Beside them the table has the
// column value: the row of the record.
type layout struct {
	name    string
	columns []keyColumn
	keys    map[*record.Index][]string // the columns of a key, in order; nil: the key of the row
	beside  []besideColumn             // the initial values of columns that are not in the record
}

// A besideColumn has a value that is not in the record. A row gets the initial value when it is
// new, and after each change of its record.
type besideColumn struct {
	name, kind string
	value      any
}

// A keyColumn has a part of a record's keys, or another field that queries need.
type keyColumn struct {
	name, kind string
	by         *record.Index             // the index of the keys; nil: the key of the row
	at         int                       // the offset of the part in the key
	part       func(r record.Record) any // the other field; nil: a key
}

// inKey reports whether the column has a part of the key of the row.
func (c keyColumn) inKey() bool { return c.by == nil && c.part == nil }

// The kinds of columns: a number of eight bytes, one that is no part of a key, a byte that is 1 or 0, the
// rest of a key, and all keys of an index.
const (
	bigint   = "bigint"
	smallint = "smallint"
	boolean  = "boolean"
	bytea    = "bytea"
	byteas   = "bytea[]"
)

var layouts = layoutsWith(map[*record.Table]*layout{
	record.Accounts.Table: {
		tableAccount,
		[]keyColumn{{"id", bigint, nil, 0, nil}, {"email", bytea, record.AccountsByEmail, 0, nil}, {"identities", byteas, record.AccountsByIdentity, 0, nil}},
		map[*record.Index][]string{nil: {"id"}, record.AccountsByEmail: {"email"}, record.AccountsByIdentity: {"identities"}},
		nil,
	},
	record.Sessions.Table: {
		tableSession,
		[]keyColumn{{"digest", bytea, nil, 0, nil}, {"owner", bigint, record.SessionsByOwner, 0, nil}, {"id", bigint, record.SessionsByOwner, 8, nil}},
		map[*record.Index][]string{nil: {"digest"}, record.SessionsByOwner: {"owner", "id"}},
		nil,
	},
	record.Tokens.Table: {
		tableToken,
		[]keyColumn{{"digest", bytea, nil, 0, nil}, {"owner", bigint, record.TokensByOwner, 0, nil}, {"id", bigint, record.TokensByID, 0, nil}},
		map[*record.Index][]string{nil: {"digest"}, record.TokensByOwner: {"owner", "id"}, record.TokensByID: {"id"}},
		nil,
	},
	record.Hooks.Table: placed(tableHook),
	record.Requests.Table: {
		tableRequest,
		[]keyColumn{{"id", bytea, nil, 0, nil}, {"owner", bigint, record.RequestsByOwner, 0, nil}, {"live", boolean, record.RequestsByOwner, 8, nil}},
		map[*record.Index][]string{nil: {"id"}, record.RequestsByOwner: {"owner", "live", "id"}},
		nil,
	},
	record.Messages.Table: {
		tableOutbox,
		[]keyColumn{
			{"next_at", bigint, nil, 0, nil},
			{"number", bigint, nil, 8, nil},
			{"route", smallint, nil, 0, func(r record.Record) any { return int16(r.(record.Message).Route) }},
			{"recipient", bigint, nil, 0, func(r record.Record) any { return int64(r.(record.Message).To) }},
		},
		map[*record.Index][]string{nil: {"next_at", "number"}},
		[]besideColumn{{"lease", bigint, int64(0)}, {"holder", bytea, []byte{}}},
	},
	record.Quotas.Table: {
		tableQuota,
		[]keyColumn{{"of", bytea, nil, 0, nil}},
		map[*record.Index][]string{nil: {"of"}},
		nil,
	},
	record.AdminEvents.Table: {
		tableEvent,
		[]keyColumn{{"number", bigint, nil, 0, nil}},
		map[*record.Index][]string{nil: {"number"}},
		[]besideColumn{{"op", bytea, []byte{}}},
	},
})

// layoutsWith adds the tables that were added.
func layoutsWith(all map[*record.Table]*layout) map[*record.Table]*layout {
	for _, of := range record.Tables() {
		if of.Added.Postgres > 0 {
			all[of] = placed(of.Name)
			if !of.Placed {
				all[of] = &layout{of.Name, []keyColumn{{"id", bytea, nil, 0, nil}}, map[*record.Index][]string{nil: {"id"}}, nil}
			}
		}
	}
	return all
}

// placed is the layout of a table of placed records.
func placed(name string) *layout {
	return &layout{
		name, []keyColumn{{"owner", bigint, nil, 0, nil}, {"id", bigint, nil, 8, nil}}, map[*record.Index][]string{nil: {"owner", "id"}}, nil,
	}
}

// of returns the value of the column for a record.
func (c keyColumn) of(r record.Record) any {
	if c.part != nil {
		return c.part(r)
	}
	keys := [][]byte{r.Key()}
	if c.by != nil {
		keys = c.by.Keys(r)
	}
	switch c.kind {
	case bigint:
		return int64(binary.BigEndian.Uint64(keys[0][c.at:]))
	case boolean:
		return keys[0][c.at] == 1
	case bytea:
		return keys[0]
	default:
		return append([][]byte{}, keys...)
	}
}

// values returns the values of the column for the keys of rows. A row cannot have a number that is
// too large for the column.
func (c keyColumn) values(keys [][]byte) any {
	if c.kind != bigint {
		return keys
	}
	all := make([]int64, len(keys))
	for i, key := range keys {
		all[i] = int64(binary.BigEndian.Uint64(key[c.at:]))
	}
	return all
}

// place returns a pointer for scanning the column.
func (c keyColumn) place() any {
	switch c.kind {
	case bigint:
		return new(int64)
	case smallint:
		return new(int16)
	case boolean:
		return new(bool)
	case bytea:
		return new([]byte)
	default:
		return new([][]byte)
	}
}

// least returns a value that is less than any other in the column, which is part of a row's key.
func (c keyColumn) least() any {
	if c.kind == bigint {
		return int64(-1)
	}
	return []byte{}
}

// keyIn returns the key of a row whose columns were scanned.
func keyIn(columns []keyColumn, scanned []any) (key []byte) {
	for i, c := range columns {
		if !c.inKey() {
			continue
		}
		switch v := scanned[i].(type) {
		case *int64:
			key = binary.BigEndian.AppendUint64(key, uint64(*v))
		case *[]byte:
			key = append(key, *v...)
		}
	}
	return key
}

// parts returns the columns of a key or its prefix, and their values. ok is false if a row cannot
// have such a number.
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
			case boolean:
				values, key = append(values, key[0] == 1), key[1:]
			case bytea:
				values, key = append(values, key), nil
			default:
				values, key = append(values, [][]byte{key}), nil
			}
		}
	}
	return columns, values, true
}

// where returns the condition that columns equal the arguments from first on.
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

// arguments returns the placeholders of values of the columns: the arguments from first on.
func arguments(columns []keyColumn, first int) string {
	var all []string
	for i, c := range columns {
		all = append(all, fmt.Sprintf("$%d::%s", first+i, c.kind))
	}
	return strings.Join(all, ", ")
}

// rowKey lists the columns that make up the key of a row.
func (l *layout) rowKey() (columns []keyColumn) {
	for _, c := range l.columns {
		if c.inKey() {
			columns = append(columns, c)
		}
	}
	return columns
}

// names lists the names of the columns.
func names(columns []keyColumn) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

// selects returns a query for scan; more has further columns, after a comma.
func (l *layout) selects(more string) string {
	return "select " + names(l.columns) + ", value" + more + " from " + l.name
}

// scan reads the columns of a row, which must agree with its record, the row, and the columns after
// it.
func (l *layout) scan(s sealer, of *record.Table, r pgx.Row, more ...any) (one record.Record, stored []byte, err error) {
	to := make([]any, 0, len(l.columns)+1)
	for _, c := range l.columns {
		to = append(to, c.place())
	}
	if err := r.Scan(append(append(to, &stored), more...)...); err != nil {
		return nil, nil, err
	}
	key := keyIn(l.columns, to)
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

// update returns a statement that replaces the row under a key, with its arguments from first on.
func (l *layout) update(key []byte, r record.Record, row []byte, first int) (text string, args []any) {
	var set []string
	put := func(name, kind string, v any) {
		args = append(args, v)
		set = append(set, fmt.Sprintf("%s = $%d::%s", name, first+len(args)-1, kind))
	}
	for _, c := range l.columns {
		if !c.inKey() || !bytes.Equal(key, r.Key()) {
			put(c.name, c.kind, c.of(r))
		}
	}
	for _, c := range l.beside {
		put(c.name, c.kind, c.value)
	}
	put("value", bytea, row)
	columns, values, _ := l.parts(nil, key)
	return "update " + l.name + " set " + strings.Join(set, ", ") + " where " + where(columns, first+len(args)), append(args, values...)
}
