package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/durable"
	"pushbox/store/bolt"
	"pushbox/store/record"
)

// errEnough ends a dump whose caller wants no more.
var errEnough = decide(errors.New("enough"))

// Dump returns all records as they are at one instant, in one transaction that only reads.
// Other steps go on.
func (db *DB) Dump(ctx context.Context) record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		done, err := db.begin(ctx)
		if err != nil {
			yield(record.DumpRecord{}, err)
			return
		}
		defer done()
		err = db.reloadRing(ctx)
		enough := false
		if err == nil {
			err = db.snapshot(ctx, func(t pgx.Tx) error {
				d := &dump{sealer: sealer{db.ring.Load()}, ctx: ctx, tx: t, yield: yield}
				err := d.run()
				enough = errors.Is(err, errEnough)
				return err
			})
		}
		if err != nil && !enough {
			yield(record.DumpRecord{}, err)
		}
	}
}

// A dump is a walk through all records.
type dump struct {
	sealer
	ctx   context.Context
	tx    pgx.Tx
	yield func(record.DumpRecord, error) bool
}

func (d *dump) give(kind record.RecordKind, key, value []byte) error {
	if !d.yield(record.DumpRecord{Kind: kind, Key: key, Value: value}, nil) {
		return errEnough
	}
	return nil
}

// opened gives a row without its tag.
func (d *dump) opened(kind record.RecordKind, table string, key, tagKey, stored []byte) error {
	v, err := d.open(table, tagKey, stored)
	if err != nil {
		return err
	}
	return d.give(kind, key, v)
}

// each runs a query and calls fn with each row.
func (d *dump) each(query string, to []any, fn func() error) error {
	rows, err := d.tx.Query(d.ctx, query)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, to, fn)
	return err
}

func (d *dump) run() error {
	for _, part := range []func() error{
		d.ring, d.latest, d.head, d.accounts, d.keyed(record.RecordSession, tableSession, "digest"), d.keyed(record.RecordToken, tableToken, "digest"),
		d.hooks, d.keyed(record.RecordRequest, tableRequest, "id"), d.keyed(record.RecordQuota, tableQuota, "of"), d.numbered(record.RecordEvent, tableEvent, "number"),
		d.pushes, d.payloads, d.entries, d.orphans, d.chunks, d.keyed(record.RecordGrant, tableGrants, "digest"), d.messages,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) ring() error {
	var sealed []byte
	if err := d.tx.QueryRow(d.ctx, "select sealed from ring").Scan(&sealed); err != nil || sealed == nil {
		return err
	}
	return d.give(record.RecordRing, nil, sealed)
}

func (d *dump) latest() error {
	var stored []byte
	err := d.tx.QueryRow(d.ctx, "select value from meta where name = $1", metaLatest).Scan(&stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.opened(record.RecordTime, tableMeta, nil, []byte(metaLatest), stored)
}

func (d *dump) head() error {
	var stored []byte
	var h head
	if err := d.tx.QueryRow(d.ctx, "select value from head").Scan(&stored); err != nil {
		return err
	}
	if stored != nil {
		if err := d.read(tableHead, nil, stored, &h); err != nil {
			return err
		}
	}
	n, err := record.LastNumbers{Account: h.account, Session: h.session, Token: h.token, Hook: h.hook}.AppendBinary(nil)
	if err != nil {
		return err
	}
	if err := d.give(record.RecordNumbers, nil, n); err != nil {
		return err
	}
	ends, err := h.LogHead.AppendBinary(nil)
	if err != nil {
		return err
	}
	return d.give(record.RecordHead, nil, ends)
}

func (d *dump) accounts() error { return d.numbered(record.RecordAccount, tableAccount, "id")() }

// numbered gives a table whose key is a number.
func (d *dump) numbered(kind record.RecordKind, table, column string) func() error {
	return func() error {
		var n int64
		var stored []byte
		return d.each(fmt.Sprintf("select %s, value from %s order by %s", column, table, column), []any{&n, &stored}, func() error {
			return d.opened(kind, table, uint64Key(uint64(n)), uint64Key(uint64(n)), stored)
		})
	}
}

// keyed gives a table whose key is bytes.
func (d *dump) keyed(kind record.RecordKind, table, column string) func() error {
	return func() error {
		var key, stored []byte
		return d.each(fmt.Sprintf("select %s, value from %s order by %s", column, table, column), []any{&key, &stored}, func() error {
			return d.opened(kind, table, key, key, stored)
		})
	}
}

func (d *dump) hooks() error {
	var owner, id int64
	var stored []byte
	return d.each("select owner, id, value from hook order by owner, id", []any{&owner, &id, &stored}, func() error {
		key := pairKey(uint64(owner), uint64(id))
		return d.opened(record.RecordHook, tableHook, key, key, stored)
	})
}

func (d *dump) pushes() error {
	var id, stored []byte
	var seq int64
	return d.each("select id, seq, value from push order by id", []any{&id, &seq, &stored}, func() error {
		return d.opened(record.RecordPush, tablePush, id, pushKey(idOf(id), seq), stored)
	})
}

func (d *dump) payloads() error {
	var id, data []byte
	return d.each("select id, data from payload order by id", []any{&id, &data}, func() error { return d.give(record.RecordPayload, id, data) })
}

func (d *dump) entries() error {
	var id, stored []byte
	var number int64
	return d.each("select id, number, value from audit order by id, number", []any{&id, &number, &stored}, func() error {
		key := auditKey(idOf(id), uint32(number))
		return d.opened(record.RecordEntry, tableAudit, key, key, stored)
	})
}

func (d *dump) orphans() error {
	var id []byte
	return d.each("select id from orphan order by id", []any{&id}, func() error { return d.give(record.RecordOrphan, id, nil) })
}

func (d *dump) chunks() error {
	var id, data []byte
	var file, number int64
	return d.each("select id, file, number, data from chunk order by id, file, number", []any{&id, &file, &number, &data}, func() error {
		return d.give(record.RecordChunk, chunkKey(id, file, number), data)
	})
}

func (d *dump) messages() error {
	var next, number int64
	var stored []byte
	return d.each("select next_at, number, value from outbox order by next_at, number", []any{&next, &number, &stored}, func() error {
		key := pairKey(uint64(next), uint64(number))
		return d.opened(record.RecordMessage, tableOutbox, key, key, stored)
	})
}

// Load keeps all records in one transaction. After an error there are none, unless last
// returned nil: then Loaded tells.
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
	now     record.DumpRecord // read and not taken
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

// kept are the records that the transaction has put in.
func (l *load) kept() record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		d := &dump{sealer: l.sealer, ctx: l.ctx, tx: l.tx, yield: yield}
		if err := d.run(); err != nil && !errors.Is(err, errEnough) {
			yield(record.DumpRecord{}, err)
		}
	}
}

// run first locks the row of the key ring, so that no first start of a server makes another
// one meanwhile, and so that Loaded waits for the end of the transaction.
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

// single keeps a record that there is one of.
func (l *load) single() (err error) {
	switch r := l.now; r.Kind {
	case record.RecordRing:
		_, err = l.tx.Exec(l.ctx, "update ring set sealed = $1, version = version + 1", r.Value)
		l.version++
	case record.RecordTime:
		_, err = l.tx.Exec(l.ctx, "insert into meta values ($1, $2)", metaLatest, l.sealValue(tableMeta, []byte(metaLatest), r.Value))
	case record.RecordNumbers:
		var n record.LastNumbers
		err = decide(n.UnmarshalBinary(r.Value))
		l.head.account, l.head.session, l.head.token, l.head.hook = n.Account, n.Session, n.Token, n.Hook
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

// finish keeps the head and the rows of room.
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
	fits := len(l.now.Key) == t.key
	if l.now.Kind == record.RecordQuota {
		_, fits = record.QuotaOfKey(l.now.Key)
	}
	if !fits {
		return nil, fmt.Errorf("%w: the key of %s is malformed", record.ErrCorrupt, l.now.Kind)
	}
	return t.row(l, bytes.Clone(l.now.Key), bytes.Clone(l.now.Value))
}

// A loadTable is where records of a kind go.
type loadTable struct {
	table   string
	columns []string
	key     int // its length, where all have the same
	row     func(l *load, k, v []byte) ([]any, error)
}

const (
	idLen     = len(record.ID{})
	digestLen = len(record.GrantDigest{})
)

// loadedTable is where records of a table go.
func loadedTable(of *record.Table, key int) loadTable {
	l := layouts[of]
	t := loadTable{table: l.name, key: key}
	for _, c := range l.columns {
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
		return append(row, to.sealValue(l.name, k, v)), nil
	}
	return t
}

func signed(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// loadTables are the tables of records of which there may be many.
var loadTables = map[record.RecordKind]loadTable{
	record.RecordAccount: loadedTable(record.Accounts.Table, 8),
	record.RecordSession: loadedTable(record.Sessions.Table, digestLen),
	record.RecordToken:   loadedTable(record.Tokens.Table, digestLen),
	record.RecordHook:    loadedTable(record.Hooks.Table, 2*8),
	record.RecordRequest: loadedTable(record.Requests.Table, idLen),
	record.RecordQuota: {tableQuota, []string{"of", "value"}, 0, func(l *load, k, v []byte) ([]any, error) {
		return []any{k, l.sealValue(tableQuota, k, v)}, nil
	}},
	record.RecordEvent: {tableEvent, []string{"number", "op", "value"}, 8, func(l *load, k, v []byte) ([]any, error) {
		return []any{signed(k), []byte{}, l.sealValue(tableEvent, k, v)}, nil
	}},
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
	record.RecordMessage: {tableOutbox, []string{"number", "next_at", "route", "recipient", "lease", "holder", "value"}, 16, func(l *load, k, v []byte) ([]any, error) {
		var m record.Message
		err := m.UnmarshalBinary(v)
		return []any{signed(k[8:]), signed(k), int16(m.Route), int64(m.To), int64(0), []byte{}, l.sealValue(tableOutbox, k, v)}, err
	}},
}

func (l *load) addRoom(p record.Push) {
	c := checker{rooms: l.rooms}
	c.addRoom(p)
}

// Backup writes all records at one instant into a file that package bolt opens, beside
// everything else, and opens it.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int64)) (_ record.Engine, temp string, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	total, err := db.measure(ctx, "select pg_database_size(current_database())")
	keys := db.ring.Load().keys
	done()
	if err != nil {
		return nil, "", err
	}
	select {
	case db.copying <- struct{}{}:
		defer func() { <-db.copying }()
	default:
		return nil, "", fmt.Errorf("%w: another backup runs", record.ErrBusy)
	}
	if path == "" {
		path = filepath.Join(db.opts.Dir, "pushbox.db")
	}
	copied, temp, err := bolt.OpenCopy(path)
	if err != nil {
		return nil, "", err
	}
	if err = copied.Unlock(ctx, keys, nil); err == nil {
		err = copied.Load(ctx, counting(db.Dump(ctx), total, progress), func(record.Records) error { return nil })
	}
	if err = errors.Join(err, copied.Close()); err != nil {
		return nil, "", errors.Join(err, durable.Scrub(temp))
	}
	opened, temp, err := bolt.Reopen(temp)
	if err != nil {
		return nil, "", err
	}
	return opened, temp, nil
}

// counting calls progress while records are taken.
func counting(all record.Records, total int64, progress func(done, total int64)) record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		done, told := int64(0), int64(0)
		for r, err := range all {
			if done += int64(len(r.Key) + len(r.Value)); done-told >= 1<<20 {
				told = done
				progress(done, max(done, total))
			}
			if !yield(r, err) {
				return
			}
		}
		progress(done, done)
	}
}
