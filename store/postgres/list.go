package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// listed runs a query for a list in a separate step.
func listed[T any](ctx context.Context, db *DB, each func(s sealer, r pgx.CollectableRow) (T, error), query string, args ...any) (list []T, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
			list, err = collect(ctx, c, func(r pgx.CollectableRow) (T, error) { return each(s, r) }, query, args...)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s sealer) listedPush(r pgx.CollectableRow) (record.Push, error) {
	w, err := s.scanPush(r)
	return w.push, err
}

// Pushes lists an owner's live pushes, or the others, newest first. It compares rows instead of
// using =, with which the planner may choose another index and read the whole list while its
// statistics are out of date.
func (db *DB) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	end, args := "(owner, live) <= ($1, $2)", []any{int64(owner), live, skip, limit}
	if before != (record.ID{}) {
		end, args = "(owner, live, id) < ($1, $2, $5)", append(args, before[:])
	}
	return listed(ctx, db, sealer.listedPush, "select "+pushColumns+` from push p
		where (owner, live) >= ($1, $2) and `+end+` and owner <> 0
		order by owner desc, live desc, id desc offset $3 limit $4`, args...)
}

// PushesByID returns the existing pushes among the IDs.
func (db *DB) PushesByID(ctx context.Context, ids []record.ID) ([]record.Push, error) {
	keys := make([][]byte, len(ids))
	for i := range ids {
		keys[i] = ids[i][:]
	}
	return listed(ctx, db, sealer.listedPush, "select "+pushColumns+` from unnest($1::bytea[]) with ordinality as u (id, n)
		join push p on p.id = u.id order by u.n`, keys)
}

// CountPushes counts an owner's live pushes, or the others, up to most, in the order of the
// index that Pushes reads.
func (db *DB) CountPushes(ctx context.Context, owner record.AccountID, live bool, most int) (int, error) {
	counts, err := listed(ctx, db, func(_ sealer, r pgx.CollectableRow) (n int, err error) {
		err = r.Scan(&n)
		return n, err
	}, `select count(*) from (select from push where (owner, live) >= ($1, $2) and (owner, live) <= ($1, $2) and owner <> 0
		order by owner desc, live desc, id desc limit $3) p`, int64(owner), live, most)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// Scan lists pushes by ID, from the first after the one given.
func (db *DB) Scan(ctx context.Context, after record.ID, limit int) ([]record.Push, error) {
	return listed(ctx, db, sealer.listedPush, "select "+pushColumns+" from push p where id > $1 order by id limit $2", after[:], limit)
}

// Entries lists a push's audit entries, oldest first. The push has their number, so that a removed
// entry is noticed.
func (db *DB) Entries(ctx context.Context, id record.ID, skip, limit int) (list []record.Entry, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	first := int64(max(skip, 0))
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			list = nil
			var w row
			query := "select " + pushColumns + `, a.number, a.value from push p
				left join (select * from audit where id = $1 and number >= $2 order by number limit $3) a on a.id = p.id
				where p.id = $1 order by a.number`
			rows, err := c.Query(ctx, query, id[:], first, limit)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var number *int64
				var stored []byte
				if w, err = s.scanPush(rows, &number, &stored); err != nil {
					return err
				}
				if number == nil {
					break
				}
				at := uint32(first) + uint32(len(list))
				if *number != int64(at) {
					break
				}
				var e record.Entry
				if err := s.read(tableAudit, auditKey(id, at), stored, &e); err != nil {
					return err
				}
				list = append(list, e)
			}
			rows.Close()
			if err := rows.Err(); err != nil {
				return err
			}
			if want := min(int64(limit), int64(w.push.Seq)-first); int64(len(list)) < want {
				return decide(fmt.Errorf("%w: %s: entry %d of push %s is missing", record.ErrCorrupt, tableAudit, first+int64(len(list)), id))
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Due lists pushes of an expiry queue whose time is not after until, earliest first, and returns
// the time of the next one. The record of each push decides, not its columns.
func (db *DB) Due(ctx context.Context, q record.ExpiryQueue, behind record.ExpiryPlace, until time.Time, limit int) (due []record.ID, next time.Time, err error) {
	type one struct {
		id record.ID
		at int64
	}
	list, err := listed(ctx, db, func(_ sealer, r pgx.CollectableRow) (o one, err error) {
		var id []byte
		if err := r.Scan(&id, &o.at); err != nil {
			return o, err
		}
		if len(id) != len(o.id) {
			return o, decide(errors.New("an ID has another length"))
		}
		o.id = record.ID(id)
		return o, nil
	}, "select id, due from push where queue = $1 and (due, id) > ($3, $4) order by queue, due, id limit $2", int16(q), int64(limit)+1, milliseconds(behind.At), behind.ID[:])
	for _, o := range list {
		if len(due) >= limit || o.at > milliseconds(until) {
			return due, timeOf(o.at), nil
		}
		due = append(due, o.id)
	}
	return due, time.Time{}, err
}
