package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// Rows of room count the live pushes of senders. They have no tag, because statements add to them
// without reading them; Check compares them with the records of pushes. The key of a row begins
// with one of these, and the sender follows.
//
// The room of all anonymous clients is split over many rows, since statements that add to one row
// wait for each other.
const (
	roomOfAccount   = 'a' // followed by the account ID as uint64
	roomOfClient    = 'c' // followed by the record.Holder
	roomOfAnonymous = 't' // followed by any byte
)

func accountRoom(id record.AccountID) []byte {
	return binary.BigEndian.AppendUint64([]byte{roomOfAccount}, uint64(id))
}

func roomKeys(p record.Push) (own, shared []byte) {
	switch shared = []byte{roomOfAnonymous, p.ID[len(p.ID)-1]}; p.RoomOf() {
	case record.RoomOfAccount:
		return accountRoom(p.Owner), nil
	case record.RoomOfClient:
		return append([]byte{roomOfClient}, p.Holder[:]...), shared
	default:
		return nil, shared
	}
}

// limits bound the size of the database.
type limits struct {
	maxSize int64
	room    record.RoomLimits
}

// SetSpaceLimits bounds additions from now on. MinFree does not apply: the database's disk is not
// visible from here.
func (db *DB) SetSpaceLimits(l record.SpaceLimits) {
	db.limits.Store(&limits{maxSize: l.MaxSize, room: l.Room})
}

// holdRoom adds the part r of a creation: it increases the sender's row, if ready is true and the
// row stays within the limits. Then r has a row.
func (n *creation) holdRoom(st *statement, ready string) {
	own, _ := roomKeys(n.push)
	takes, most := n.push.Room(), n.mostRoom()
	if own == nil || !takes.Within(most) {
		text := "select 1 where " + ready
		if own != nil { // not even this push alone fits
			text += " and false"
		}
		st.part("r", text)
		return
	}
	pushes, bytes := int64(math.MaxInt64), int64(math.MaxInt64)
	if most.Pushes != 0 {
		pushes = int64(most.Pushes)
	}
	if most.Bytes != 0 {
		bytes = most.Bytes
	}
	st.part("r", fmt.Sprintf(`insert into room as m (key, pushes, bytes) select %s, %s, %s where %s
		on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes
		where m.pushes + excluded.pushes <= %s and m.bytes + excluded.bytes <= %s returning 1`,
		st.arg("bytea", own), st.arg("bigint", int64(takes.Pushes)), st.arg("bigint", takes.Bytes), ready,
		st.arg("bigint", pushes), st.arg("bigint", bytes)))
}

// mostRoom returns the limits of the sender of a creation.
func (n *creation) mostRoom() record.Room { return n.db.limits.Load().room.Most(n.push, n.entry.Most) }

// The rows of a push's room that a part changes.
const (
	roomAll = iota
	roomShared
)

// addRoom adds the part that changes the rows of a push from its old to its new room.
func (db *DB) addRoom(st *statement, p record.Push, before, after record.Room, which int) {
	change := after.Minus(before)
	own, shared := roomKeys(p)
	var keys [][]byte
	if own != nil && which == roomAll {
		keys = append(keys, own)
	}
	if shared != nil {
		keys = append(keys, shared)
	}
	if change == (record.Room{}) || len(keys) == 0 {
		return
	}
	st.part("w", fmt.Sprintf(`insert into room as m (key, pushes, bytes) select u.key, %s, %s from p, unnest(%s) as u (key) order by u.key
		on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes`,
		st.arg("bigint", int64(change.Pushes)), st.arg("bigint", change.Bytes), st.arg("bytea[]", keys)))
}

// mayHold refuses a push of an anonymous client while the room of all anonymous clients is used up,
// according to a recent measurement.
func (db *DB) mayHold(ctx context.Context, p record.Push) error {
	share := db.limits.Load().room.Anonymous
	if p.RoomOf() == record.RoomOfAccount || share == 0 || db.limits.Load().maxSize == 0 {
		return nil
	}
	used, err := db.total.get(func() (int64, error) {
		return db.measure(ctx, "select coalesce(sum(bytes), 0)::bigint from room where substring(key from 1 for 1) = 't'")
	})
	if err != nil {
		return err
	}
	if used+p.Room().Bytes > max(1, db.limits.Load().maxSize/100*int64(share)) {
		return &record.RoomError{Of: record.RoomOfAnonymous}
	}
	db.total.add(p.Room().Bytes)
	return nil
}

// mayAdd refuses additions to a database that has reached its largest size.
func (db *DB) mayAdd(ctx context.Context) error { return db.mayAddBy(ctx, db.measure) }

// mayAddOn is mayAdd within an attempt, on its connection: steps that each hold one and want
// another could wait for each other.
func (db *DB) mayAddOn(ctx context.Context, c *pgxpool.Conn) error {
	err := db.mayAddBy(ctx, func(ctx context.Context, query string) (n int64, err error) {
		err = c.QueryRow(ctx, query).Scan(&n)
		return n, err
	})
	if errors.Is(err, record.ErrFull) {
		err = decide(err)
	}
	return err
}

func (db *DB) mayAddBy(ctx context.Context, measure func(ctx context.Context, query string) (int64, error)) error {
	most := db.limits.Load().maxSize
	if most == 0 {
		return nil
	}
	size, err := db.space.get(func() (int64, error) { return measure(ctx, "select pg_database_size(current_database())") })
	if err == nil && size >= most {
		err = fmt.Errorf("%w: the database has reached its largest size", record.ErrFull)
	}
	return err
}

func (db *DB) measure(ctx context.Context, query string) (n int64, err error) {
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return c.QueryRow(ctx, query).Scan(&n) })
	return n, err
}

// measured is a figure that is measured again after some seconds.
type measured struct {
	mu   sync.Mutex
	at   time.Time
	n    int64
	busy bool // a measurement runs
}

const measureEvery = 5 * time.Second

// get returns the figure. During a measurement other callers get the last figure, since a caller
// that holds a connection must not wait.
func (m *measured) get(measure func() (int64, error)) (int64, error) {
	if n, ok := m.known(); ok {
		return n, nil
	}
	n, err := measure()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = false
	if err == nil {
		m.n, m.at = n, time.Now()
	}
	return n, err
}

// known returns the figure if the caller need not measure.
func (m *measured) known() (n int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && (m.busy || time.Since(m.at) < measureEvery) {
		return m.n, true
	}
	m.busy = true
	return 0, false
}

func (m *measured) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n += n
}

// sweepCounts now and then removes rows of senders without live pushes, and tries that may be
// forgotten.
func (db *DB) sweepCounts(ctx context.Context) error {
	if time.Since(db.swept) < sweepEvery {
		return nil
	}
	db.swept = time.Now()
	return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var b pgx.Batch
		b.Queue("delete from room where pushes = 0 and bytes = 0")
		b.Queue("delete from tally where forget <= $1", db.triedAt.Load())
		_, err := queued(ctx, c, &b)
		return err
	})
}

const sweepEvery = 10 * time.Minute

// Rooms returns the room of the sender of each of these pushes.
func (db *DB) Rooms(ctx context.Context, of []record.Push) ([]record.Room, error) {
	keys := make([][]byte, len(of))
	for i, p := range of {
		keys[i], _ = roomKeys(p)
	}
	return listed(ctx, db, func(_ sealer, row pgx.CollectableRow) (r record.Room, err error) {
		return r, row.Scan(&r.Pushes, &r.Bytes)
	}, `select coalesce(m.pushes, 0), coalesce(m.bytes, 0) from unnest($1::bytea[]) with ordinality as u (key, n)
		left join room m on m.key = u.key order by u.n`, keys)
}

// numbers assigns the numbers of messages: they grow within a process, and random bits make those
// of two processes different.
type numbers struct{ last atomic.Uint64 }

// numberBits are the random bits of a number. The rest is microseconds since 1970, until
// the year 2255.
const numberBits = 10

func (n *numbers) next() uint64 {
	for {
		last := n.last.Load()
		v := max(last+1, uint64(time.Now().UnixMicro())<<numberBits|uint64(randomBits(numberBits)))
		if n.last.CompareAndSwap(last, v) {
			return v
		}
	}
}

func randomBits(n int) uint16 {
	op := newOp()
	return binary.BigEndian.Uint16(op[:]) & (1<<n - 1)
}
