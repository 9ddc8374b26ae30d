package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A row is a push as the database has it.
type row struct {
	push    record.Push
	record  []byte // of the push
	seq     int64  // the number of its changes
	op      opName // of the attempt that wrote it
	payload []byte // nil: none
	floor   int64  // of the key ring, when it was read
}

// castagnoli detects what a disk changed in payloads and chunks, without any key.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func digest(b []byte) int64 { return int64(crc32.Checksum(b, castagnoli)) }

const (
	pushColumns       = "p.id, p.seq, p.op, p.owner, p.live, p.queue, p.due, p.value"
	selectPushAndSize = "select " + pushColumns + `, coalesce(octet_length(y.data), 0)
		from push p left join payload y on y.id = p.id where p.id = $1`
	selectPushAndPayload = "select " + pushColumns + `, y.data, (select floor from ring)
		from push p left join payload y on y.id = p.id where p.id = $1`
)

// A rawPush is a row of push as it was read.
type rawPush struct {
	id, op, stored []byte
	seq            int64
	of             columns

	payload []byte // nil: none, or it was not read
	floor   int64
}

// columns are where those of pushColumns are read to.
func (r *rawPush) columns() []any {
	return []any{&r.id, &r.seq, &r.op, &r.of.owner, &r.of.live, &r.of.queue, &r.of.due, &r.stored}
}

// believe returns the push of a row, whose columns must agree with its record. One that has
// ended has no payload.
func (s sealer) believe(r *rawPush) (w row, err error) {
	if len(r.id) != len(w.push.ID) {
		return w, mismatch(tablePush, "id")
	}
	w.push.ID, w.seq = record.ID(r.id), r.seq
	copy(w.op[:], r.op)
	if w.record, err = s.open(tablePush, pushKey(w.push.ID, w.seq), r.stored); err != nil {
		return w, err
	}
	if err := w.push.UnmarshalBinary(w.record); err != nil {
		return w, decide(fmt.Errorf("%w: %s: %w", record.ErrCorrupt, tablePush, err))
	}
	if name := r.of.differs(columnsOf(w.push)); name != "" {
		return w, mismatch(tablePush, name)
	}
	w.floor = r.floor
	if w.push.Live() {
		w.payload = r.payload
	}
	return w, nil
}

// scanPush reads the columns of a push, and what follows them.
func (s sealer) scanPush(r pgx.Row, more ...any) (w row, err error) {
	var raw rawPush
	if err := r.Scan(append(raw.columns(), more...)...); err != nil {
		return w, err
	}
	return s.believe(&raw)
}

// columns are what the indexes have of a push.
type columns struct {
	owner int64
	live  bool
	queue int16
	due   int64
}

func columnsOf(p record.Push) columns {
	queue, at := p.ExpiryQueue()
	return columns{int64(p.Owner), p.Live(), int16(queue), milliseconds(at)}
}

// differs names a column that is another; empty if none is.
func (c columns) differs(o columns) string {
	switch {
	case c.owner != o.owner:
		return "owner"
	case c.live != o.live:
		return "live"
	case c.queue != o.queue:
		return "queue"
	case c.due != o.due:
		return "due"
	default:
		return ""
	}
}

// load reads a push and its payload, in one snapshot. record.ErrNotFound if there is none.
func (db *DB) load(ctx context.Context, c *pgxpool.Conn, s sealer, id record.ID) (w row, err error) {
	var r rawPush
	err = c.QueryRow(ctx, selectPushAndPayload, db.often(c, id[:])...).Scan(append(r.columns(), &r.payload, &r.floor)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return w, decide(record.ErrNotFound)
	case err != nil:
		return w, err
	}
	return s.believe(&r)
}

// Push returns the push, or record.ErrNotFound.
func (db *DB) Push(ctx context.Context, id record.ID) (p record.Push, err error) {
	p, _, err = db.PushAndSize(ctx, id)
	return p, err
}

// PushAndSize returns the push and the length of its sealed payload; 0 where there is
// none. record.ErrNotFound if there is no such push.
func (db *DB) PushAndSize(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return p, 0, err
	}
	defer done()
	return db.pushOf(ctx, id)
}

// pushOf is PushAndSize within a step.
func (db *DB) pushOf(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			w, err := s.scanPush(c.QueryRow(ctx, selectPushAndSize, db.often(c, id[:])...), &payload)
			if errors.Is(err, pgx.ErrNoRows) {
				return decide(record.ErrNotFound)
			}
			p = w.push
			return err
		})
	})
	if err != nil {
		return record.Push{}, 0, err
	}
	if !p.Live() {
		payload = 0
	}
	return p, payload, nil
}
