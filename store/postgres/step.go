package postgres

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// step repeats attempts of a step, each of which reads, decides and writes, until one is done. An
// attempt returns errAgain or errUnknown to be repeated, and must find out itself whether the
// attempt before it was committed. step does not repeat it forever: after some tries, or when the
// database does not answer for some time, the error is record.ErrUnavailable.
func (db *DB) step(ctx context.Context, try func(ctx context.Context) error) error {
	ctx = context.WithoutCancel(ctx) // the step began: its outcome must be determined
	begun, quiet := time.Now(), 0
	if waited, ok := ctx.Value(begunKey{}).(time.Time); ok {
		begun = waited
	}
	m := db.met.begin(true).under(ctx)
	for n := 0; ; n++ {
		err := try(ctx)
		m.attempted(err)
		var d *decision
		switch {
		case err == nil:
			return nil
		case errors.As(err, &d):
			return d.error
		case !errors.Is(err, errAgain) && !errors.Is(err, errUnknown):
			return db.named(err)
		}
		if err != errAgain { //nolint:errorlint // with a cause, it is no conflict but a failure
			quiet++
		}
		if n >= maxTries || quiet > 0 && time.Since(begun) > db.opts.giveUp {
			if err = db.unavailable(err); m.givenUp() {
				err = fmt.Errorf("%w; %w", err, errUnknown)
			}
			return err
		}
		if err := db.pause(ctx, quiet, n); err != nil {
			return err
		}
	}
}

// underKeys is step for attempts that seal or verify rows. They get the keys of one ring, and of
// the next one if another server has replaced it and they may not write.
func (db *DB) underKeys(ctx context.Context, try keyedTry) error {
	return db.refreshed(ctx, func(s sealer) error { return db.underThese(ctx, s, try) })
}

// A keyedTry is an attempt that seals or verifies rows.
type keyedTry func(ctx context.Context, c *pgxpool.Conn, s sealer) error

// underThese is step for attempts under the keys of s only.
func (db *DB) underThese(ctx context.Context, s sealer, try keyedTry) error {
	return db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return try(ctx, c, s) })
	})
}

// read runs fn, which only reads, and repeats it if the database did not answer.
func (db *DB) read(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	begun := time.Now()
	m := db.met.begin(false)
	for n := 0; ; n++ {
		err := db.attempt(ctx, fn)
		m.attempted(err)
		var d *decision
		switch {
		case err == nil:
			return nil
		case errors.As(err, &d):
			return d.error
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, errAgain) && !errors.Is(err, errUnknown):
			return db.named(err)
		case n >= maxTries || time.Since(begun) > db.opts.giveUp:
			return db.unavailable(err)
		}
		if err := db.pause(ctx, n+1, n); err != nil {
			return err
		}
	}
}

// pause waits before another try: very briefly after a conflict, and longer while the database does
// not answer.
func (db *DB) pause(ctx context.Context, quiet, n int) error {
	most := min(time.Duration(n+1)*200*time.Microsecond, 5*time.Millisecond)
	if quiet > 0 {
		most = min(20*time.Millisecond<<min(quiet, 5), 500*time.Millisecond)
	}
	t := time.NewTimer(mathrand.N(most) + most/4)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-db.closing:
		return record.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// since makes a step under the context include the time that it waited for earlier steps.
func since(ctx context.Context, begun time.Time) context.Context {
	return context.WithValue(ctx, begunKey{}, begun)
}

type begunKey struct{}

// inTurn waits for the turn of a key for a step. The step must use the returned context.
func inTurn[K comparable](ctx context.Context, db *DB, q *turns[K], key K) (*turn, context.Context, error) {
	begun, t := time.Now(), q.enter(key)
	if err := db.beginTurn(ctx, t, begun); err != nil {
		q.drop(key, t)
		return nil, ctx, err
	}
	return t, since(ctx, begun), nil
}

// beginTurn waits for a turn, together with earlier waits at most as long as a step continues while
// the database does not answer, but at least for one attempt. Then the error is
// record.ErrUnavailable.
func (db *DB) beginTurn(ctx context.Context, t *turn, begun time.Time) error {
	waiting, cancel := context.WithTimeout(ctx, max(db.opts.giveUp-time.Since(begun), db.opts.Attempt))
	defer cancel()
	err := t.begin(waiting)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: earlier changes take too long", db.unusable())
	}
	return err
}

// turns let one step at a time work on a key within this process: waiting here costs nothing, but
// conflicts in the database cost round trips. The zero value is ready.
type turns[K comparable] struct {
	mu  sync.Mutex
	all map[K]*turn
}

// A turn is the queue of one key. It exists while a step uses it.
type turn struct {
	busy   chan struct{} // holds a value while a step has its turn
	waited bool          // the step with the turn waited for it
	users  int           // number of steps, including waiting ones
}

// enter returns the queue of a key. The caller ends its use with drop.
func (q *turns[K]) enter(key K) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.all[key]
	if t == nil {
		if q.all == nil {
			q.all = make(map[K]*turn)
		}
		t = &turn{busy: make(chan struct{}, 1)}
		q.all[key] = t
	}
	t.users++
	return t
}

// leave ends a turn.
func (q *turns[K]) leave(key K, t *turn) {
	t.end()
	q.drop(key, t)
}

func (q *turns[K]) drop(key K, t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(q.all, key)
	}
}

// begin waits for the turn. The caller ends it with end.
func (t *turn) begin(ctx context.Context) error {
	waited := false
	select {
	case t.busy <- struct{}{}:
	default:
		waited = true
		select {
		case t.busy <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.waited = waited
	return nil
}

func (t *turn) end() { <-t.busy }

// attempt runs fn with a connection, for as long as an attempt may take. It distinguishes a change
// that certainly did not happen (errAgain, or the error of the server) from an unknown outcome
// (errUnknown).
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

// release gives a connection back to the pool, after an attempt under ctx. pgx closes a broken
// connection, and for up to fifteen seconds asks its host to cancel the statement. Meanwhile the
// pool may open another one.
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

// warned is the key under which a connection records a warning.
const warned = "pushbox: a warning came"

// noteWarning records a warning: if the wait for a standby was cancelled, the server reports
// success for the commit, and only a warning says that no standby has it.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = n.Message
	}
}
