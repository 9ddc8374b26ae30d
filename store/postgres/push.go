package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A row is a push with the columns of its row.
type row struct {
	push    record.Push
	record  []byte // of the push
	seq     int64  // the number of its changes
	op      opName // of the attempt that wrote it
	payload []byte // nil: none
	floor   int64  // floor of the key ring at the time of the read
}

// castagnoli detects errors of the disk in payloads and chunks without a key.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func digest(b []byte) int64 { return int64(crc32.Checksum(b, castagnoli)) }

const (
	pushColumns  = "p.id, p.seq, p.op, p.owner, p.live, p.queue, p.due, p.value"
	selectPushes = "select " + pushColumns + `, case when octet_length(y.data) <= $2 then y.data end, (select floor from ring), coalesce(octet_length(y.data), 0)
		from push p left join payload y on y.id = p.id where p.id = any ((select $1::bytea[])::bytea[])`
	selectPushAndPayload = "select " + pushColumns + `, y.data, (select floor from ring)
		from push p left join payload y on y.id = p.id where p.id = $1`
)

// A rawPush is a row of push as it was read.
type rawPush struct {
	id, op, stored []byte
	seq            int64
	of             columns

	size    int    // of the payload
	payload []byte // nil: none, or it was not read
	floor   int64
}

// columns returns the pointers for scanning pushColumns.
func (r *rawPush) columns() []any {
	return []any{&r.id, &r.seq, &r.op, &r.of.owner, &r.of.live, &r.of.queue, &r.of.due, &r.stored}
}

// believe verifies a row and returns its push. The columns must agree with the record, and an ended
// push has no payload.
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

// scanPush reads the columns of a push, and those after them.
func (s sealer) scanPush(r pgx.Row, more ...any) (w row, err error) {
	var raw rawPush
	if err := r.Scan(append(raw.columns(), more...)...); err != nil {
		return w, err
	}
	return s.believe(&raw)
}

// columns has the values of a push in indexes.
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

// differs names a column that differs; empty if none does.
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

// Push returns the push and the length of its sealed payload; 0 where there is
// none. record.ErrNotFound if there is no such push.
func (db *DB) Push(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return p, 0, err
	}
	defer done()
	return db.pushOf(ctx, id)
}

// pushOf is Push within a step: together with other reads, or alone if that gives no result.
func (db *DB) pushOf(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	shared := reading{ids: [][]byte{id[:]}, err: errAgain}
	waiting, cancel := context.WithTimeout(ctx, shareWait)
	db.reads.do(waiting, &shared, db.readTogether)
	cancel()
	if shared.err == nil {
		switch p, payload, err = db.readFrom(sealer{db.ring.Load()}, shared.found); {
		case err == nil:
			return p, payload, nil
		case errors.Is(err, record.ErrNotFound):
			return p, 0, record.ErrNotFound
		}
	}
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			found, err := db.readRaw(ctx, c, [][]byte{id[:]})
			if err == nil {
				p, payload, err = db.readFrom(s, found)
			}
			return err
		})
	})
	return p, payload, err
}

// readFrom returns the push of at most one row. It caches a complete row for the change that may
// follow.
func (db *DB) readFrom(s sealer, found []*rawPush) (p record.Push, payload int, err error) {
	if len(found) == 0 {
		return p, 0, decide(record.ErrNotFound)
	}
	w, err := s.believe(found[0])
	if err != nil {
		return p, 0, err
	}
	if len(found[0].payload) == found[0].size {
		db.recent.put(w)
	}
	if w.push.Live() {
		payload = found[0].size
	}
	return w.push, payload, nil
}

// readRaw reads the rows of the existing pushes among the IDs, and small payloads.
func (db *DB) readRaw(ctx context.Context, c *pgxpool.Conn, ids [][]byte) ([]*rawPush, error) {
	return collect(ctx, c, func(row pgx.CollectableRow) (*rawPush, error) {
		r := &rawPush{}
		return r, row.Scan(append(r.columns(), &r.payload, &r.floor, &r.size)...)
	}, selectPushes, db.often(c, ids, smallPayload)...)
}

// A reading is a read of a push together with others.
type reading struct {
	ids   [][]byte // the ID of the push
	found []*rawPush
	err   error // errAgain until it was read
}

// shareWait is how long a read waits for the statement of other reads, so that a slow statement
// delays only the reads that share it. It is far longer than a statement takes.
const shareWait = time.Second

// readTogether reads the pushes by one statement.
func (db *DB) readTogether(all []*reading) error {
	var ids [][]byte
	for _, r := range all {
		ids = append(ids, r.ids...)
	}
	var found []*rawPush
	err := db.attempt(context.Background(), func(ctx context.Context, c *pgxpool.Conn) (err error) {
		found, err = db.readRaw(ctx, c, ids)
		return err
	})
	db.met.shared(err)
	for _, r := range all {
		r.err = err
		if i := slices.IndexFunc(found, func(p *rawPush) bool { return bytes.Equal(p.id, r.ids[0]) }); i >= 0 {
			r.found = found[i : i+1]
		}
	}
	return err
}

// recent caches rows of pushes that were read a moment ago: after a client has read a push, it
// often changes it, and the change need not read it again. The zero value is ready.
type recent struct {
	mu   sync.Mutex
	rows map[record.ID]row
}

// mostRecent bounds the number of cached rows.
const mostRecent = 256

func (r *recent) put(w row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil || len(r.rows) >= mostRecent {
		r.rows = make(map[record.ID]row)
	}
	r.rows[w.push.ID] = w
}

// take returns a row and forgets it, and reports whether it was there. Its push shares no memory
// with the one that was read.
func (r *recent) take(id record.ID) (w row, ok bool) {
	r.mu.Lock()
	w, ok = r.rows[id]
	delete(r.rows, id)
	r.mu.Unlock()
	if ok {
		w.push = record.Push{ID: id}
		_ = w.push.UnmarshalBinary(w.record) // it was verified before
	}
	return w, ok
}

// clear forgets all rows, so that rows that are read but not changed do not stay in memory.
func (r *recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = nil
}
