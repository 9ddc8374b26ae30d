package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// What came of an attempt, where it is not done.
var (
	// errAgain says that nothing was changed, and that the step may begin again.
	errAgain = errors.New("another change came first")
	// errUnknown says that it is not known whether the attempt changed anything.
	errUnknown = errors.New("the outcome is not known")
)

// An opName names an attempt, so that its outcome can be read.
type opName [16]byte

func newOp() (op opName) {
	_, _ = rand.Read(op[:]) // never fails: crypto/rand ends the program instead
	return op
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
	err = fn(ctx, c)
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

// again is errAgain with its cause: the database did not answer, or refused.
func again(err error) error { return &againError{err} }

// An againError is errAgain where the cause is no other change.
type againError struct{ error }

func (e *againError) Is(target error) bool { return target == errAgain }
func (e *againError) Unwrap() error        { return e.error }

// unknown is errUnknown with its cause.
func unknown(err error) error { return &unknownError{err} }

// An unknownError is errUnknown with the error that left the outcome unknown.
type unknownError struct{ error }

func (e *unknownError) Is(target error) bool { return target == errUnknown }
func (e *unknownError) Unwrap() error        { return e.error }

// SQLSTATEs that are treated in a way of their own.
const (
	diskFull      = "53100"
	outOfMemory   = "53"
	readOnly      = "25006"
	uniqueness    = "23505"
	rollback      = "40" // serialization failures and deadlocks
	cancelled     = "57014"
	statementLost = "40003"
	noSuchTable   = "42P01"
	noSuchColumn  = "42703"
)

// outcome classifies an error of an attempt.
func outcome(err error) error {
	var p *pgconn.PgError
	var unconnected *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, errAgain), errors.Is(err, errUnknown):
		return err
	case pgconn.SafeToRetry(err), errors.As(err, &unconnected):
		return again(err)
	case errors.As(err, &p):
		switch {
		case p.Code == diskFull:
			return fmt.Errorf("%w: %s", record.ErrFull, p.Message)
		case p.SeverityUnlocalized == "FATAL" || p.SeverityUnlocalized == "PANIC" || p.Code == statementLost:
			return unknown(err)
		case p.Code == readOnly, p.Code == cancelled, strings.HasPrefix(p.Code, rollback), strings.HasPrefix(p.Code, outOfMemory):
			return again(err)
		}
		return err
	case isOwn(err):
		return err
	default: // the connection broke, or the time was up
		return unknown(err)
	}
}

// isOwn reports whether an error is the decision of a step, and not one of the way to the
// database.
func isOwn(err error) bool {
	var d *decision
	return errors.As(err, &d)
}

// A decision wraps the error of a step, so that it is not taken for one of the connection.
type decision struct{ error }

func (d *decision) Unwrap() error { return d.error }

func decide(err error) error {
	var d *decision
	if err == nil || errors.As(err, &d) {
		return err
	}
	return &decision{err}
}

// step repeats attempts of a step, each of which reads, decides and writes, until one is
// done. An attempt returns errAgain or errUnknown to be repeated; it finds out itself
// whether the one before it was done. What it is told by others is never repeated for
// ever: after some tries, or when the database does not answer for some time, the error is
// record.ErrUnavailable.
func (db *DB) step(ctx context.Context, try func(ctx context.Context) error) error {
	ctx = context.WithoutCancel(ctx) // it began: its outcome must be known
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

// underKeys is step for attempts that seal or verify rows. They get the keys of one ring; if
// another server has replaced it so that they may not write, they get the next.
func (db *DB) underKeys(ctx context.Context, try keyedTry) error {
	return db.refreshed(ctx, func(s sealer) error { return db.underThese(ctx, s, try) })
}

// A keyedTry is an attempt that seals or verifies rows.
type keyedTry func(ctx context.Context, c *pgxpool.Conn, s sealer) error

// underThese is step for attempts under the keys of s alone.
func (db *DB) underThese(ctx context.Context, s sealer, try keyedTry) error {
	return db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return try(ctx, c, s) })
	})
}

// since has a step under the context count the time that it waited for others before it.
func since(ctx context.Context, begun time.Time) context.Context {
	return context.WithValue(ctx, begunKey{}, begun)
}

type begunKey struct{}

// inTurn takes the turn of a key for a step. The step begins under the context that is
// returned.
func inTurn[K comparable](ctx context.Context, db *DB, q *turns[K], key K) (*turn, context.Context, error) {
	begun, t := time.Now(), q.enter(key)
	if err := db.beginTurn(ctx, t, begun); err != nil {
		q.drop(key, t)
		return nil, ctx, err
	}
	return t, since(ctx, begun), nil
}

// beginTurn waits for a turn. With what the step waited since it began, that is no longer
// than a step goes on while the database does not answer, but for one attempt: then the
// error is record.ErrUnavailable.
func (db *DB) beginTurn(ctx context.Context, t *turn, begun time.Time) error {
	waiting, cancel := context.WithTimeout(ctx, max(db.opts.giveUp-time.Since(begun), db.opts.Attempt))
	defer cancel()
	err := t.begin(waiting)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: other changes before this one take too long", db.unusable())
	}
	return err
}

// pause waits before another try: hardly after a conflict, and longer while the database
// does not answer.
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

// read runs fn, which only reads, and runs it again where the database did not answer.
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

// unavailable is the error of unusable with its cause.
func (db *DB) unavailable(err error) error {
	text, refused := reason(err)
	if refused {
		return &refusedError{text}
	}
	return fmt.Errorf("%w: %s", db.unusable(), text)
}

// named returns an error of the server without the values that it quotes, and one of the
// way to it as record.ErrUnavailable.
func (db *DB) named(err error) error {
	var p *pgconn.PgError
	switch err = outcome(err); {
	case err == nil:
		return nil
	case errors.Is(err, errAgain), errors.Is(err, errUnknown):
		return db.unavailable(err)
	case hasCode(err, noSuchTable), hasCode(err, noSuchColumn):
		return fmt.Errorf("%w: its tables are not those of its schema number, as builds between two releases left them", record.ErrSchema)
	case errors.As(err, &p):
		return fmt.Errorf("the database refused a statement: %s (SQLSTATE %s)", p.Message, p.Code)
	default:
		return err
	}
}

// isTaken reports whether a row could not be added because one with its key is there.
func isTaken(err error) bool { return hasCode(err, uniqueness) }

func hasCode(err error, code string) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == code
}

// A statement is built of parts. Each change of a push is one statement, since its parts
// see one snapshot and happen as one.
type statement struct {
	parts []string
	args  []any
}

// arg adds a value of a type, and returns what stands for it.
func (s *statement) arg(kind string, v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args)) + "::" + kind
}

// part adds a named part, and returns its name.
func (s *statement) part(name, text string) string {
	s.parts = append(s.parts, name+" as ("+text+")")
	return name
}

// text is the whole statement, which ends with what it returns.
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

// ignore drops the error of a batch that failed before.
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
