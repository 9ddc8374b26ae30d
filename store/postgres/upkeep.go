package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// Stats returns figures of the database, without the unused space, which only vacuum knows. It
// waits for an answer of the database at most as long as an attempt may take.
func (db *DB) Stats(ctx context.Context) (s record.EngineStats, err error) {
	shared := db.met.stats(db.pool.Stat())
	defer func() { s.Shared = &shared }()
	done, err := db.begin(ctx)
	if err != nil {
		return s, err
	}
	defer done()
	err = db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var oldest *int64
		err := c.QueryRow(ctx, `select pg_database_size(current_database()),
			(select due from push where queue = $1 order by queue, due, id limit 1),
			(select coalesce(sum(pushes), 0)::bigint from room where substring(key from 1 for 1) in ('a', 't'))`, int16(record.Expiring)).Scan(&s.Size, &oldest, &s.Live)
		if oldest != nil {
			s.Oldest = timeOf(*oldest)
		}
		return err
	})
	if err != nil {
		return record.EngineStats{}, db.named(err)
	}
	return s, nil
}

// Compact does nothing: vacuum gives unused space back.
func (db *DB) Compact(ctx context.Context, progress func(done, total int64)) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	progress(0, 0)
	return nil
}

// writersEnd bounds the wait for statements that began before the floor rose.
const writersEnd = 30 * time.Second

var errNotEmpty = errors.New("the database is not empty")
