package scale

import (
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// Servers reach their database through a PgBouncer, which gives each transaction another
// connection.
func TestPgBouncerInBetween(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it starts PgBouncer and several servers")
	url := pgtest.URL(t)
	f := newFleet(t, pgtest.NewBouncer(t).Before(url), 2, env.Seed(t))
	f.primary = url
	f.end(f.work(answersBefore))
	f.verify()
	f.wantLimits()
	f.wantFiles()
	f.stop()
}
