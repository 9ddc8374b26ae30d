package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A statement consists of parts. Each change of a push is one statement, because its parts see one
// snapshot and are atomic.
type statement struct {
	parts []string
	args  []any
}

// arg adds a value of a type, and returns its placeholder.
func (s *statement) arg(kind string, v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args)) + "::" + kind
}

// part adds a named part, and returns its name.
func (s *statement) part(name, text string) string {
	s.parts = append(s.parts, name+" as ("+text+")")
	return name
}

// text returns the whole statement, with the query of its result at the end.
func (s *statement) text(returns string) string {
	return "with " + strings.Join(s.parts, ",\n") + "\n" + returns
}

// queued sends several statements in one round trip, as one transaction, and returns how
// many rows each changed.
func queued(ctx context.Context, c *pgxpool.Conn, b *pgx.Batch) (rows []int64, err error) {
	r := c.SendBatch(ctx, b)
	for range b.Len() {
		t, execErr := r.Exec()
		if execErr != nil {
			return nil, errors.Join(execErr, ignore(r.Close()))
		}
		rows = append(rows, t.RowsAffected())
	}
	return rows, r.Close()
}

// ignore drops the error of a batch that has already failed.
func ignore(error) error { return nil }

// collect reads all rows of a query.
func collect[T any](ctx context.Context, c *pgxpool.Conn, each pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, each)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, nil
	}
	return slices.Clip(list), nil
}

// Statements that create, read and change a push are prepared under a name, so that the server
// plans them seldom: planning takes longer than running. A named statement belongs to one
// connection of the server. A pooler such as PgBouncer may give each transaction a different
// connection, so behind a pooler no statement is prepared.
//
// The server keeps a generic plan of a prepared statement if its cost is not higher than that of
// plans for particular values. A statement for several pushes hides their number from the planner
// with (select $1), so that both cost the same.

// planAge is how long a plan is kept. A plan from when a table was small reads all of it, so it
// must be replaced when the table has grown.
const planAge = 5 * time.Second

// SQLSTATEs that show a pooler which looks like the server.
const (
	noSuchStatement    = "26000"
	duplicateStatement = "42P05"
)

// direct is the key under which a direct connection to the server has the time of its plans.
const direct = "pushbox: no pooler, and plans since"

// findPooler records whether a connection is direct: a pooler has its own process IDs.
func findPooler(ctx context.Context, c *pgx.Conn) error {
	var id uint32
	err := c.QueryRow(ctx, "select pg_backend_pid()").Scan(&id)
	if err == nil && id == c.PgConn().PID() {
		c.PgConn().CustomData()[direct] = time.Now()
	}
	return err
}

// often returns the arguments of a frequent statement, after the mode in which the connection runs
// it: prepared if possible.
func (db *DB) often(c *pgxpool.Conn, args ...any) []any {
	mode := db.mode
	if _, ok := c.Conn().PgConn().CustomData()[direct]; ok && !db.pooled.Load() {
		mode = pgx.QueryExecModeCacheStatement
	}
	return append([]any{mode}, args...)
}

// renewPlans makes the connection prepare statements with old plans again.
func renewPlans(ctx context.Context, c *pgx.Conn) error {
	data := c.PgConn().CustomData()
	since, ok := data[direct].(time.Time)
	now := time.Now()
	if !ok || now.Sub(since) <= planAge {
		return nil
	}
	data[direct] = now
	return c.DeallocateAll(ctx)
}
