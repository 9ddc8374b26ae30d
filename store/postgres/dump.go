package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/durable"
	"pushbox/store/bolt"
	"pushbox/store/record"
)

// errEnough ends a dump when its caller stops.
var errEnough = decide(errors.New("enough"))

// Dump returns all records at one instant, in one read-only transaction. Other steps continue.
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

// opened passes a row to fn without its tag.
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
	parts := map[record.RecordKind]func() error{
		record.RecordRing: d.ring, record.RecordTime: d.latest, record.RecordNumbers: d.head, // with RecordHead
		record.RecordPush: d.pushes, record.RecordPayload: d.payloads,
		record.RecordEntry: d.entries, record.RecordOrphan: d.orphans, record.RecordChunk: d.chunks,
		record.RecordGrant: d.grants,
	}
	for _, of := range record.Tables() {
		parts[of.Dumped] = d.records(of)
	}
	for _, kind := range slices.Sorted(maps.Keys(parts)) {
		if err := parts[kind](); err != nil {
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
	n, err := h.numbers.AppendBinary(nil)
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

// records dumps a table of records.
func (d *dump) records(of *record.Table) func() error {
	return func() error {
		l := layouts[of]
		columns := l.rowKey()
		var key []any
		for _, c := range columns {
			key = append(key, c.place())
		}
		var stored []byte
		return d.each(fmt.Sprintf("select %s, value from %s order by %s", names(columns), l.name, names(columns)), append(key, &stored), func() error {
			k := keyIn(columns, key)
			return d.opened(of.Dumped, l.name, k, k, stored)
		})
	}
}

func (d *dump) grants() error {
	var digest, stored []byte
	return d.each("select digest, value from grants order by digest", []any{&digest, &stored}, func() error {
		return d.opened(record.RecordGrant, tableGrants, digest, digest, stored)
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

const (
	idLen     = len(record.ID{})
	digestLen = len(record.GrantDigest{})
)

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
	if err = copied.Unlock(ctx, keys, nil, nil); err == nil {
		err = copied.Load(ctx, counting(db.Dump(ctx), total, progress), func(record.Records) error { return nil })
	}
	if err = errors.Join(err, copied.Close()); err != nil {
		return nil, "", errors.Join(err, durable.Scrub(temp))
	}
	opened, temp, err := copied.Reopen()
	if err != nil {
		return nil, "", err
	}
	return opened, temp, nil
}

// counting yields the records and calls progress.
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
