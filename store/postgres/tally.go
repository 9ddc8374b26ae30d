package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

// Rows of tally have the times of tries. One statement writes all rows of a try, and compares them
// by the name of the attempt that wrote them. They have no tag. If the outcome of an attempt is
// unknown and another try followed it, the try is counted again; so no limit is exceeded.

// A tallyKey names the tries of a tally.
type tallyKey struct {
	of  uint8
	key [16]byte
}

func (k tallyKey) compare(o tallyKey) int {
	if k.of != o.of {
		return int(k.of) - int(o.of)
	}
	return bytes.Compare(k.key[:], o.key[:])
}

// A tallyRow is the tries of a tally.
type tallyRow struct {
	op     []byte // nil: there is no row
	tries  []time.Time
	forget int64 // microseconds since 1970
}

type tallyRows map[tallyKey]*tallyRow

// bounded lists the keys of tallies with a limit, in order.
func bounded(ts []limit.Tally) (keys []tallyKey) {
	for _, t := range ts {
		if t.Most > 0 {
			keys = append(keys, tallyKey{t.Of, t.Key})
		}
	}
	slices.SortFunc(keys, tallyKey.compare)
	return slices.Compact(keys)
}

// tallyColumns returns keys as arguments of a statement.
func tallyColumns(keys []tallyKey) (of []int16, key [][]byte) {
	for _, k := range keys {
		of, key = append(of, int16(k.of)), append(key, bytes.Clone(k.key[:]))
	}
	return of, key
}

// readTallies reads the tries that still count at a time. Each key gets a row.
func readTallies(ctx context.Context, c *pgxpool.Conn, keys []tallyKey, at time.Time) (tallyRows, error) {
	all := make(tallyRows, len(keys))
	for _, k := range keys {
		all[k] = &tallyRow{}
	}
	ofs, names := tallyColumns(keys)
	rows, err := c.Query(ctx, "select of, key, op, forget, tries from tally where (of, key) in (select * from unnest($1::smallint[], $2::bytea[]))", ofs, names)
	if err != nil {
		return nil, err
	}
	var of int16
	var name, op, tries []byte
	var forget int64
	_, err = pgx.ForEachRow(rows, []any{&of, &name, &op, &forget, &tries}, func() error {
		k := tallyKey{of: uint8(of)}
		copy(k.key[:], name)
		row := all[k]
		if row == nil || len(tries)%8 != 0 {
			return decide(fmt.Errorf("%w: tally: a row is malformed", record.ErrCorrupt))
		}
		if row.op = bytes.Clone(op); forget <= at.UnixMicro() {
			return nil
		}
		row.forget = forget
		for ; len(tries) > 0; tries = tries[8:] {
			row.tries = append(row.tries, time.UnixMicro(int64(binary.BigEndian.Uint64(tries))))
		}
		return nil
	})
	return all, err
}

// do applies a turn to tallies, and reports whether that changed anything.
func (rows tallyRows) do(turn limit.Turn, at time.Time, ts []limit.Tally) (stood []limit.Standing, changed bool) {
	now := time.UnixMicro(at.UnixMicro())
	stood = turn.On(ts, now, func(t limit.Tally) (tries []time.Time) {
		if row := rows[tallyKey{t.Of, t.Key}]; row != nil {
			tries = row.tries
		}
		return tries
	}, func(t limit.Tally, tries []time.Time) {
		row := rows[tallyKey{t.Of, t.Key}]
		slices.SortFunc(tries, time.Time.Compare) // the clock of another server may be ahead
		row.tries, changed = tries, true
		row.forget = max(row.forget, now.Add(t.KeepFor()).UnixMicro())
	})
	return stood, changed
}

// Tries applies a turn to tallies, and returns their standing before.
func (db *DB) Tries(ctx context.Context, turn limit.Turn, at time.Time, ts []limit.Tally) (stood []limit.Standing, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	switch keys := bounded(ts); {
	case len(keys) == 0:
		stood, _ = tallyRows{}.do(turn, at, ts)
		return stood, nil
	case turn == limit.Look:
		err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := readTallies(ctx, c, keys, at)
			if err == nil {
				stood, _ = rows.do(turn, at, ts)
			}
			return err
		})
	default:
		err = db.changeTallies(ctx, at, keys, func(rows tallyRows) (changed bool) {
			stood, changed = rows.do(turn, at, ts)
			return changed
		})
	}
	if err != nil {
		return nil, err
	}
	return stood, nil
}

// changeTallies calls rule to change the tries of tallies, and writes them unless it returns false.
// It may run several times; the last run counts.
func (db *DB) changeTallies(ctx context.Context, at time.Time, keys []tallyKey, rule func(rows tallyRows) bool) error {
	for now := at.UnixMicro(); ; {
		if last := db.triedAt.Load(); last >= now || db.triedAt.CompareAndSwap(last, now) {
			break
		}
	}
	begun := time.Now()
	for _, k := range keys { // sorted, so that two statements never wait for each other
		t, _, err := inTurn(ctx, db, &db.tallies, k)
		if err != nil {
			return err
		}
		defer db.tallies.leave(k, t)
	}
	op, tried := newOp(), false // the same for each attempt: at most one of them can succeed
	return db.step(since(ctx, begun), func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := readTallies(ctx, c, keys, at)
			if err != nil {
				return err
			}
			own := func(r *tallyRow) bool { return bytes.Equal(r.op, op[:]) }
			if tried && slices.ContainsFunc(slices.Collect(maps.Values(rows)), own) {
				return nil // with what rule decided then
			}
			if !rule(rows) {
				return nil
			}
			tried = true
			return rows.write(ctx, c, keys, op)
		})
	})
}

// write replaces all rows, if each is unchanged since it was read. The first row of a tally cannot
// be added twice: the error ends the whole statement.
func (rows tallyRows) write(ctx context.Context, c *pgxpool.Conn, keys []tallyKey, op opName) error {
	var there []tallyKey
	var ops, tries [][]byte
	var forget []int64
	for _, k := range keys {
		row := rows[k]
		if row.op != nil {
			there, ops = append(there, k), append(ops, row.op)
		}
		var b []byte
		for _, t := range row.tries {
			b = binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()))
		}
		tries, forget = append(tries, append([]byte{}, b...)), append(forget, row.forget)
	}
	st := &statement{}
	ofs, names := tallyColumns(there)
	old := []any{st.arg("smallint[]", ofs), st.arg("bytea[]", names), st.arg("bytea[]", ops)}
	st.part("l", fmt.Sprintf("select of, key, op from tally where (of, key) in (select * from unnest(%s, %s)) order by of, key for update", old[:2]...))
	// A locked row may have changed since the statement began, so it is compared after the lock.
	st.part("q", fmt.Sprintf("select 1 from l join unnest(%s, %s, %s) as v (of, key, op) using (of, key, op)", old...))
	ofs, names = tallyColumns(keys)
	st.part("v", fmt.Sprintf("select * from unnest(%s, %s, %s, %s) as v (of, key, forget, tries) where (select count(*) from q) = %s and (select floor from ring) < "+strconv.FormatInt(floorMoving, 10),
		st.arg("smallint[]", ofs), st.arg("bytea[]", names), st.arg("bigint[]", forget), st.arg("bytea[]", tries), st.arg("bigint", int64(len(there)))))
	name := st.arg("bytea", op[:])
	st.part("w", "update tally t set op = "+name+", forget = v.forget, tries = v.tries from v join l using (of, key) where t.of = v.of and t.key = v.key")
	st.part("i", "insert into tally (of, key, op, forget, tries) select v.of, v.key, "+name+", v.forget, v.tries from v where (v.of, v.key) not in (select of, key from l) order by v.of, v.key")
	var written int
	err := c.QueryRow(ctx, st.text("select count(*) from v"), st.args...).Scan(&written)
	if isTaken(err) || err == nil && written == 0 {
		return errAgain
	}
	return err
}
