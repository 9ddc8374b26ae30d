package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Statements that serve all that wait are prepared under a name, so that the server plans
// them seldom: planning one costs as much as ten of its rows. A named statement belongs to
// one connection of the server. A pooler such as PgBouncer may give each transaction another
// connection, so behind one no statement is prepared.
//
// The server keeps the plan of a prepared statement that takes no longer than plans for the
// values at hand. Such a statement hides its values from the planner, by (select $1), so
// that both take as long.

// planAge is how long a plan is kept. One that was made while a table was small reads all
// of it, so it must go when the table has grown.
const planAge = 5 * time.Second

// SQLSTATEs of a pooler that passes for the server.
const (
	noSuchStatement    = "26000"
	duplicateStatement = "42P05"
)

// direct is the key under which a connection that ends at the server keeps when its
// plans were made.
const direct = "pushbox: no pooler, and plans since"

// findPooler notes whether a connection ends at the server: a pooler has process IDs of its
// own.
func findPooler(ctx context.Context, c *pgx.Conn) error {
	var id uint32
	err := c.QueryRow(ctx, "select pg_backend_pid()").Scan(&id)
	if err == nil && id == c.PgConn().PID() {
		c.PgConn().CustomData()[direct] = time.Now()
	}
	return err
}

// collectOften is collect for a statement that is prepared if it may be.
func collectOften[T any](ctx context.Context, db *DB, c *pgxpool.Conn, each pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	data := c.Conn().PgConn().CustomData()
	since, ok := data[direct].(time.Time)
	if !ok || db.pooled.Load() {
		return collect(ctx, c, each, query, args...)
	}
	if now := time.Now(); now.Sub(since) > planAge {
		if err := c.Conn().DeallocateAll(ctx); err != nil {
			return nil, err
		}
		data[direct] = now
	}
	list, err := collect(ctx, c, each, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if hasCode(err, noSuchStatement) || hasCode(err, duplicateStatement) {
		db.pooled.Store(true)
	}
	return list, err
}
