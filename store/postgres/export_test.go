package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Schema is the number of the present schema.
var Schema = len(migrations)

// A Migration is one that tests put after the others.
type Migration struct {
	Text   string
	Oldest int // 0: the schema that it makes
}

// WithMigrations has a DB know further migrations.
func WithMigrations(o *Options, more ...Migration) {
	for i, m := range more {
		if m.Oldest == 0 {
			m.Oldest = len(migrations) + i + 1
		}
		o.more = append(o.more, migration{m.Text, m.Oldest})
	}
}

// GiveUpAfter sets how long a step continues while the database does not answer.
func GiveUpAfter(o *Options, wait time.Duration) { o.giveUp = wait }

// SweepCounts removes rows of room and tally that no longer say anything.
func SweepCounts(ctx context.Context, db *DB) error {
	db.swept = db.swept.Add(-sweepEvery)
	return db.sweepCounts(ctx)
}

// WayOfURL returns how connections to an address are protected, if they have TLS.
func WayOfURL(url string) (Way, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return "", err
	}
	return wayOfTLS(c.TLSConfig), nil
}

// ForgetSize has the size of the database measured again.
func ForgetSize(db *DB) {
	db.space.mu.Lock()
	defer db.space.mu.Unlock()
	db.space.at = time.Time{}
}

// Turns is how many pushes, accounts and tallies steps work on or wait for.
func Turns(db *DB) int { return db.turns.count() + db.admin.count() + db.tallies.count() }

func (q *turns[K]) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// MessagesRead is how many messages DueMessages reads at a time.
const MessagesRead = duePage

// DatePlans has the plans of all connections be from a time.
func DatePlans(ctx context.Context, db *DB, since time.Time) {
	for _, c := range db.pool.AcquireAllIdle(ctx) {
		c.Conn().PgConn().CustomData()[direct] = since
		c.Release()
	}
}

// LosePlans does what a pooler does that gives a transaction another connection.
func LosePlans(ctx context.Context, db *DB) error {
	var errs []error
	for _, c := range db.pool.AcquireAllIdle(ctx) {
		_, err := c.Conn().PgConn().Exec(ctx, "deallocate all").ReadAll()
		errs = append(errs, err)
		c.Release()
	}
	return errors.Join(errs...)
}

// HoldReads has a statement of shared reads run until release is called.
func (db *DB) HoldReads() (release func()) {
	began, hold := make(chan struct{}), make(chan struct{})
	go db.reads.do(context.Background(), &reading{}, func([]*reading) error { close(began); <-hold; return nil })
	<-began
	return func() { close(hold) }
}
