package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// attempt runs fn with a connection, for as long as an attempt may take. It tells a change
// that surely did not happen (errAgain, or the error of the server) from one of unknown
// outcome (errUnknown).
func (db *DB) attempt(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.Attempt)
	defer cancel()
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return again(err)
	}
	defer db.release(ctx, c)
	delete(c.Conn().PgConn().CustomData(), warned)
	if err = renewPlans(ctx, c.Conn()); err != nil {
		return again(err)
	}
	if err = fn(ctx, c); hasCode(err, noSuchStatement) || hasCode(err, duplicateStatement) {
		db.pooled.Store(true)
	}
	if w, ok := c.Conn().PgConn().CustomData()[warned]; ok && (err == nil || errors.Is(err, errAgain)) {
		return unknown(errors.New(w.(string)))
	}
	return outcome(err)
}

// release gives a connection back to the pool, after an attempt under ctx. One that was cut
// off is closed by pgx, which for up to fifteen seconds asks its host to cancel the
// statement: meanwhile the pool has room for another.
func (db *DB) release(ctx context.Context, c *pgxpool.Conn) {
	switch {
	case !c.Conn().IsClosed():
		c.Release()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		db.hosts.hung()
		c.Hijack()
	default:
		c.Hijack()
	}
}

// warned is the key under which a connection keeps that a warning came.
const warned = "pushbox: a warning came"

// noteWarning notes a warning: the server reports success for a commit that no standby has
// when the wait for it was cancelled, and says so in a warning alone.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = n.Message
	}
}
