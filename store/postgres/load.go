package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

// Load stores all records in one transaction. After an error the database is empty, unless last
// returned nil: then Loaded decides.
func (db *DB) Load(ctx context.Context, all record.Records, last func(kept record.Records) error) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return db.named(again(err))
	}
	defer c.Release()
	next, stop := iter.Pull2(all)
	defer stop()
	l := &load{sealer: sealer{db.ring.Load()}, ctx: ctx, next: next, rooms: make(map[string]record.Room)}
	delete(c.Conn().PgConn().CustomData(), warned)
	err = pgx.BeginFunc(ctx, c, func(t pgx.Tx) error {
		l.tx = t
		if err := l.run(); err != nil {
			return err
		}
		return decide(last(l.kept()))
	})
	if w, ok := c.Conn().PgConn().CustomData()[warned]; ok && err == nil {
		err = fmt.Errorf("%w: %v", errUnknown, w)
	}
	var d *decision
	switch {
	case errors.As(err, &d):
		return d.error
	case err != nil:
		return db.named(err)
	}
	if l.version != db.ring.Load().version {
		db.useRing(&ring{db.ring.Load().keys, l.version})
	}
	return nil
}

// A load is under way.
type load struct {
	sealer
	ctx     context.Context
	tx      pgx.Tx
	next    func() (record.DumpRecord, error, bool)
	now     record.DumpRecord // read but not stored yet
	has     bool
	rooms   map[string]record.Room
	head    head
	version int64
}

// advance reads the next record.
func (l *load) advance() error {
	r, err, ok := l.next()
	l.now, l.has = r, ok
	return decide(err)
}

// kept are the records that the transaction has stored.
func (l *load) kept() record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		d := &dump{sealer: l.sealer, ctx: l.ctx, tx: l.tx, yield: yield}
		if err := d.run(); err != nil && !errors.Is(err, errEnough) {
			yield(record.DumpRecord{}, err)
		}
	}
}

// run first locks the row of the key ring, so that a server that starts meanwhile cannot make
// another ring, and Loaded waits for the end of the transaction.
func (l *load) run() error {
	if _, err := l.tx.Exec(l.ctx, "select from ring for update"); err != nil {
		return err
	}
	var there bool
	if err := l.tx.QueryRow(l.ctx, `select exists (select from push) or exists (select from account) or exists (select from event) or exists (select from chunk)
		or (select sealed is not null from ring)`).Scan(&there); err != nil {
		return err
	}
	if there {
		return decide(fmt.Errorf("%w: %w", record.ErrExists, errNotEmpty))
	}
	l.version = l.sealer.version
	if err := l.advance(); err != nil {
		return err
	}
	for l.has {
		var err error
		if t, ok := loadTables[l.now.Kind]; ok {
			err = l.copy(t)
		} else {
			err = l.single()
		}
		if err != nil {
			return err
		}
	}
	return l.finish()
}

// single stores a record of a kind that has only one record.
func (l *load) single() (err error) {
	switch r := l.now; r.Kind {
	case record.RecordRing:
		_, err = l.tx.Exec(l.ctx, "update ring set sealed = $1, version = version + 1", r.Value)
		l.version++
	case record.RecordTime:
		_, err = l.tx.Exec(l.ctx, "insert into meta values ($1, $2)", metaLatest, l.sealValue(tableMeta, []byte(metaLatest), r.Value))
	case record.RecordNumbers:
		err = decide(l.head.numbers.UnmarshalBinary(r.Value))
	case record.RecordHead:
		err = decide(l.head.LogHead.UnmarshalBinary(r.Value))
	default:
		err = decide(fmt.Errorf("%w: %s", record.ErrCorrupt, r.Kind))
	}
	if err != nil {
		return err
	}
	return l.advance()
}

// finish stores the head and the rows of room.
func (l *load) finish() error {
	row, err := l.seal(tableHead, nil, l.head)
	if err != nil {
		return decide(err)
	}
	if _, err := l.tx.Exec(l.ctx, "update head set value = $1", row); err != nil {
		return err
	}
	var rows [][]any
	for key, r := range l.rooms {
		rows = append(rows, []any{[]byte(key), int64(r.Pushes), r.Bytes})
	}
	_, err = l.tx.CopyFrom(l.ctx, pgx.Identifier{"room"}, []string{"key", "pushes", "bytes"}, pgx.CopyFromRows(rows))
	return err
}

// copy copies all records of a kind into their table.
func (l *load) copy(t loadTable) error {
	kind, begun := l.now.Kind, false
	var failed error
	_, err := l.tx.CopyFrom(l.ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
		if begun {
			if failed = l.advance(); failed != nil {
				return nil, failed
			}
		}
		begun = true
		if !l.has || l.now.Kind != kind {
			return nil, nil
		}
		row, err := l.row(t)
		failed = decide(err)
		return row, failed
	}))
	if failed != nil {
		return failed
	}
	return err
}

func (l *load) row(t loadTable) ([]any, error) {
	if t.key != 0 && len(l.now.Key) != t.key {
		return nil, fmt.Errorf("%w: the key of %s is malformed", record.ErrCorrupt, l.now.Kind)
	}
	return t.row(l, bytes.Clone(l.now.Key), bytes.Clone(l.now.Value))
}

// A loadTable is the table for records of a kind.
type loadTable struct {
	table   string
	columns []string
	key     int // length of the key; 0: row checks it
	row     func(l *load, k, v []byte) ([]any, error)
}

// loadedTable returns the loadTable of a table.
func loadedTable(of *record.Table) loadTable {
	l := layouts[of]
	t := loadTable{table: l.name}
	for _, c := range l.columns {
		t.columns = append(t.columns, c.name)
	}
	for _, c := range l.beside {
		t.columns = append(t.columns, c.name)
	}
	t.columns = append(t.columns, "value")
	t.row = func(to *load, k, v []byte) ([]any, error) {
		r, err := of.Read(k, v)
		if err != nil {
			return nil, err
		}
		var row []any
		for _, c := range l.columns {
			row = append(row, c.of(r))
		}
		for _, c := range l.beside {
			row = append(row, c.value)
		}
		return append(row, to.sealValue(l.name, k, v)), nil
	}
	return t
}

// loadTables are the tables for kinds with many records.
var loadTables = func() map[record.RecordKind]loadTable {
	all := maps.Clone(loadOther)
	for _, of := range record.Tables() {
		all[of.Dumped] = loadedTable(of)
	}
	return all
}()

// loadOther are the tables of pushes.
var loadOther = map[record.RecordKind]loadTable{
	record.RecordPush: {tablePush, []string{"id", "seq", "op", "owner", "live", "queue", "due", "value"}, idLen, func(l *load, k, v []byte) ([]any, error) {
		p := record.Push{ID: record.ID(k)}
		err := p.UnmarshalBinary(v)
		l.addRoom(p)
		c := columnsOf(p)
		return []any{k, int64(1), []byte{}, c.owner, c.live, c.queue, c.due, l.sealValue(tablePush, pushKey(p.ID, 1), v)}, err
	}},
	record.RecordPayload: {"payload", []string{"id", "sum", "data"}, idLen, func(_ *load, k, v []byte) ([]any, error) {
		return []any{k, digest(v), v}, nil
	}},
	record.RecordEntry: {tableAudit, []string{"id", "number", "op", "value"}, idLen + 4, func(l *load, k, v []byte) ([]any, error) {
		return []any{k[:idLen], int64(binary.BigEndian.Uint32(k[idLen:])), []byte{}, l.sealValue(tableAudit, k, v)}, nil
	}},
	record.RecordOrphan: {"orphan", []string{"id"}, idLen, func(_ *load, k, _ []byte) ([]any, error) { return []any{k}, nil }},
	record.RecordChunk: {"chunk", []string{"id", "file", "number", "sum", "data"}, idLen + 6, func(_ *load, k, v []byte) ([]any, error) {
		return []any{k[:idLen], int32(binary.BigEndian.Uint16(k[idLen:])), int64(binary.BigEndian.Uint32(k[idLen+2:])), digest(v), v}, nil
	}},
	record.RecordGrant: {tableGrants, []string{"id", "digest", "ends", "value"}, digestLen, func(l *load, k, v []byte) ([]any, error) {
		var g record.Grant
		err := g.UnmarshalBinary(v)
		return []any{g.Push[:], k, milliseconds(g.ExpiresAt), l.sealValue(tableGrants, k, v)}, err
	}},
}

func (l *load) addRoom(p record.Push) {
	c := checker{rooms: l.rooms}
	c.addRoom(p)
}
