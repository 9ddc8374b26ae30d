package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// surveyLooks is how many times longer than between two looks to wait between two surveys.
const surveyLooks = 5

// watch looks at the database until the DB closes: whether it answers, whether it completes
// writes, which key ring it has, and which of its hosts is the primary.
func (db *DB) watch() {
	ctx, end := context.WithCancel(context.Background())
	db.polled.Go(func() {
		<-db.closing
		end()
	})
	db.polled.Go(func() { every(ctx, db.opts.Poll, db.look) })
	db.polled.Go(func() {
		c := db.pool.Config().ConnConfig
		every(ctx, surveyLooks*db.opts.Poll, func(ctx context.Context) { db.hosts.survey(ctx, c) })
	})
}

// every calls do with that time in between, until ctx ends.
func every(ctx context.Context, wait time.Duration, do func(context.Context)) {
	t := time.NewTicker(wait)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		do(ctx)
	}
}

// look looks at the database once.
func (db *DB) look(ctx context.Context) {
	why := db.answers(ctx)
	if ctx.Err() != nil {
		return
	}
	if db.report(why); errors.Is(why, record.ErrUnavailable) && !errors.Is(why, record.ErrStandby) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.Attempt)
	defer cancel()
	_ = db.reloadRing(ctx) // the next look tries again, and a statement that needs the ring fails
	_ = db.sweepCounts(ctx)
	db.recent.clear()
}

// answers returns why the database cannot be used; nil if it can. A connection that broke
// since the last look says nothing: the next one does.
func (db *DB) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.Attempt*2/3) // a look reports trouble before a step fails because of it
	defer cancel()
	err := db.observe(ctx)
	if err != nil && ctx.Err() == nil {
		err = db.observe(ctx)
	}
	switch {
	case err != nil:
		db.waits.Store(false)
		return db.unavailable(err)
	case db.waits.Load():
		return record.ErrStandby
	}
	return nil
}

// observe finds out what the database promises about writes just now.
func (db *DB) observe(ctx context.Context) error {
	return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		d, _, err := readDurability(ctx, c.Conn())
		if err == nil {
			db.observed(d)
		}
		return err
	})
}

// observed notes what the database promises, and tells it if that is new: the settings, or
// the host that they belong to.
func (db *DB) observed(d Durability) {
	db.waits.Store(d.Waits())
	settings := d
	settings.Standbys, settings.Synchronous, settings.StandbysKnown = 0, 0, false
	db.telling.Lock()
	defer db.telling.Unlock()
	if settings != db.settings && db.opts.Durable != nil {
		db.opts.Durable(d)
	}
	db.settings = settings
}

// A trouble is why the database cannot be used, and since when. The zero value is none.
type trouble struct {
	why   error
	since time.Time
}

// report tells why the database cannot be used, if that is new; nil: it can.
func (db *DB) report(why error) {
	db.telling.Lock()
	defer db.telling.Unlock()
	was := db.trouble
	if (why == nil) == (was.why == nil) && errors.Is(why, record.ErrStandby) == errors.Is(was.why, record.ErrStandby) {
		return
	}
	lasted := time.Duration(0)
	switch {
	case why == nil:
		db.trouble, lasted = trouble{}, time.Since(was.since)
	case was.why == nil:
		db.trouble = trouble{why, time.Now()}
	default:
		db.trouble.why = why
	}
	if db.opts.Trouble != nil {
		db.opts.Trouble(why, lasted)
	}
}

// unusable is the error of a step that the database did not do in time: record.ErrUnavailable,
// or record.ErrStandby where it answers, and writes wait for a standby that none is there to be.
func (db *DB) unusable() error {
	if db.waits.Load() {
		return record.ErrStandby
	}
	return record.ErrUnavailable
}

// Ready returns nil if the database answers, and would complete a write as far as is known.
func (db *DB) Ready(ctx context.Context) error {
	err := db.View(ctx, func(v record.View) error {
		_, err := v.Last(record.Accounts.Table)
		return err
	})
	if err == nil && db.waits.Load() {
		err = record.ErrStandby
	}
	return err
}

// hostOf returns where a connection leads: an address and a port, or the path of a socket.
func hostOf(c *pgx.Conn) string { return c.PgConn().Conn().RemoteAddr().String() }
