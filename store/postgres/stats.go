package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// A met counts the conflicts and failures of steps at the database.
type met struct{ conflicts, retries, foundOut, leftUnknown atomic.Uint64 }

// stats returns the counts, with those of the connections.
func (m *met) stats(p *pgxpool.Stat) record.SharedStats {
	return record.SharedStats{
		InUse: int(p.AcquiredConns()), Idle: int(p.IdleConns()), Max: int(p.MaxConns()),
		Waits: uint64(p.EmptyAcquireCount()), Waited: p.EmptyAcquireWaitTime(),
		Conflicts: m.conflicts.Load(), Retries: m.retries.Load(), FoundOut: m.foundOut.Load(), LeftUnknown: m.leftUnknown.Load(),
	}
}

// begin begins to count for a step. A step that only reads cannot have an unknown outcome.
func (m *met) begin(writes bool) *metStep { return &metStep{met: m, writes: writes} }

// A metStep counts the conflicts and failures of one step.
type metStep struct {
	*met
	writes  bool
	unknown bool // an attempt has an unknown outcome so far
}

// doubtKey is the key of a context for a step that must find out the unknown outcome of a shared
// statement.
type doubtKey struct{}

// inDoubt returns a context with the doubtKey.
func inDoubt(ctx context.Context) context.Context { return context.WithValue(ctx, doubtKey{}, true) }

// under begins the step's count with the unknown outcome of a shared statement, if the context has
// one.
func (m *metStep) under(ctx context.Context) *metStep {
	m.unknown = ctx.Value(doubtKey{}) != nil
	return m
}

// shared counts an attempt of a shared statement. Operations that it did not complete are counted
// by the steps that continue alone.
func (m *met) shared(err error) {
	if errors.Is(err, errAgain) || errors.Is(err, errUnknown) {
		m.retries.Add(1)
	}
}

// attempted counts an attempt.
func (m *metStep) attempted(err error) {
	again, unknown := errors.Is(err, errAgain), errors.Is(err, errUnknown)
	defer func() { m.unknown = m.writes && (unknown || m.unknown && again) }()
	switch {
	case err == errAgain: //nolint:errorlint // with a cause, it is no conflict but a failure
		m.conflicts.Add(1)
	case again, unknown:
		m.retries.Add(1)
	case m.unknown:
		m.foundOut.Add(1)
	}
}

// givenUp counts a step that ends without success, and reports whether its outcome is unknown.
func (m *metStep) givenUp() bool {
	if m.unknown {
		m.leftUnknown.Add(1)
	}
	return m.unknown
}

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
