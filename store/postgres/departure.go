package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A move out of the database marks it, so that servers do not use it at the same time as the new
// place. The mark is a floor of the key ring above all versions. So each statement that compares
// the floor refuses, and each server that looks for a new ring sees the mark within a second and
// refuses everything else. The mark has the number of its move: of two concurrent moves, only the
// one that marked the database last can be completed.
const (
	floorMoving = 1 << 61 // and the number of the move
	floorMoved  = 1 << 62 // the same after the move has ended
	moveNumbers = 1 << 60
)

// A Departure is the mark of a move out of the database. The zero value is none.
type Departure struct {
	Number int64 // the number of the move, which is unique
	Ended  bool  // the records are in the new place, and no longer here
}

func (d Departure) floor() int64 {
	if d.Ended {
		return floorMoved + d.Number
	}
	return floorMoving + d.Number
}

func departureOf(floor int64) Departure {
	switch {
	case floor >= floorMoved:
		return Departure{floor - floorMoved, true}
	case floor >= floorMoving:
		return Departure{floor - floorMoving, false}
	default:
		return Departure{}
	}
}

// refuseMoved returns record.ErrMoved for a marked database, unless it was opened for a move.
func (db *DB) refuseMoved(ctx context.Context) error {
	if db.opts.Moved {
		return nil
	}
	d, err := db.departure(ctx)
	if err == nil && d != (Departure{}) {
		err = record.ErrMoved
	}
	return err
}

// Departure returns the mark of a move out of the database. It works before Unlock.
func (db *DB) Departure(ctx context.Context) (d Departure, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return d, err
	}
	defer done()
	return db.departure(ctx)
}

func (db *DB) departure(ctx context.Context) (d Departure, err error) {
	var floor int64
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "select floor from ring").Scan(&floor)
	})
	return departureOf(floor), err
}

// Others returns how many connections other processes of pushbox have to the database, as far
// as the role may see them. It works before Unlock.
func (db *DB) Others(ctx context.Context) (n int, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
			and application_name = current_setting('application_name')`).Scan(&n)
	})
	return n, err
}

// Depart marks the database as being moved, if its mark is before, and returns the new mark. When
// it returns nil, all writes of servers have ended, and later ones are refused with
// record.ErrMoved: so all acknowledged data can be read. It works before Unlock.
//
// record.ErrBusy if a write does not end, record.ErrMoved if another move has begun or ended. After
// record.ErrUnavailable the database may be marked.
func (db *DB) Depart(ctx context.Context, before Departure) (d Departure, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return d, err
	}
	defer done()
	if before.Ended {
		return d, record.ErrMoved
	}
	d = Departure{Number: 1 + rand.Int64N(moveNumbers-1)}
	for begun := time.Now(); ; {
		err = db.mark(ctx, before, d, db.lockWritten)
		if !errors.Is(err, record.ErrBusy) || time.Since(begun) > writersEnd {
			return d, err
		}
	}
}

// Arrive marks the move as ended: from now on the records are in the new place. It returns
// record.ErrMoved if another move has replaced this one. After record.ErrUnavailable the database
// may be marked.
func (db *DB) Arrive(ctx context.Context, d Departure) error {
	return db.remark(ctx, d, Departure{d.Number, true})
}

// Stay removes a mark, so that servers use the database again; without a mark it does nothing. It
// returns record.ErrMoved if there is a different mark.
func (db *DB) Stay(ctx context.Context, d Departure) error { return db.remark(ctx, d, Departure{}) }

func (db *DB) remark(ctx context.Context, before, after Departure) error {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.mark(ctx, before, after, nil)
}

// mark replaces one mark by another, unless that is done already, in a transaction that begins with
// first. It writes even if the mark is there already: its commit then makes an earlier, unconfirmed attempt durable.
func (db *DB) mark(ctx context.Context, before, after Departure, first func(context.Context, pgx.Tx) error) error {
	return db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			return pgx.BeginFunc(ctx, c, func(t pgx.Tx) error {
				if first != nil {
					if err := first(ctx, t); err != nil {
						return err
					}
				}
				var version, floor int64
				if err := t.QueryRow(ctx, "select version, floor from ring for update").Scan(&version, &floor); err != nil {
					return err
				}
				switch departureOf(floor) {
				case after:
				case before:
					if floor = version; after != (Departure{}) {
						floor = after.floor()
					}
				default:
					return decide(record.ErrMoved)
				}
				_, err := t.Exec(ctx, "update ring set floor = $1", floor)
				return err
			})
		})
	})
}

// lockWritten waits for the statements that write. A statement locks its tables before it
// takes the snapshot by which it compares the floor, so one that gets its locks after this
// transaction sees the floor that it writes.
func (db *DB) lockWritten(ctx context.Context, t pgx.Tx) error {
	if _, err := t.Exec(ctx, fmt.Sprintf("set local lock_timeout = %d", max(1, min(db.opts.Attempt, lockPatience).Milliseconds()))); err != nil {
		return err
	}
	_, err := t.Exec(ctx, "lock table "+strings.Join(written, ", ")+" in share mode")
	if hasCode(err, lockTimeout) {
		return decide(fmt.Errorf("%w: a write of a server does not end", record.ErrBusy))
	}
	return err
}

const (
	lockTimeout  = "55P03"
	lockPatience = 5 * time.Second // while other steps wait behind this lock
)

// written are the tables that statements of servers write to.
var written = func() []string {
	all := []string{tableHead, tablePush, "payload", tableAudit, "orphan", "chunk", tableGrants}
	for _, of := range record.Tables() {
		all = append(all, layouts[of].name)
	}
	return append(all, "room", "tally", tableMeta)
}()

// Loaded reports whether the database durably has this sealed key ring, after a Load with an
// unknown outcome. It waits for the end of that Load, and works before Unlock.
func (db *DB) Loaded(ctx context.Context, sealed []byte) (there bool, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	err = db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error { // a write, whose commit waits for the log before it
			return c.QueryRow(ctx, "update ring set version = version returning coalesce(sealed = $1::bytea, false)", sealed).Scan(&there)
		})
	})
	return there, err
}
