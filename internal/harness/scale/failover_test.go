package scale

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

const (
	answersBefore = 300 // of each server
	nodes         = 3
)

// The primary dies under load, and the standby that has received most takes its place:
// every acknowledged create is there, no view is over the limit, and the servers continue by
// themselves. PUSHBOX_TEST_FAILOVERS sets how often.
func TestAFailoverLosesNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, func(r *pgtest.Replicas, f *fleet) {
			r.Kill(r.Primary())
			f.await503()
			r.Promote()
			f.await200()
			f.judgeLogs()
		}) {
			return
		}
	}
}

// A primary that was frozen comes back after a standby took its place: it delivers nothing,
// since no standby acknowledges what it commits.
func TestAnOldPrimaryThatComesBackDeliversNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, func(r *pgtest.Replicas, f *fleet) {
			old := r.Primary()
			r.Freeze(old)
			f.await503()
			r.Promote()
			f.await200() // or a server that asks the old one shows what was
			r.Thaw(old)
		}) {
			return
		}
	}
}

// While no standby acknowledges, writes wait and are put off; then they continue.
func TestFrozenStandbysPutWritesOff(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, freezeStandbys) {
			return
		}
	}
}

func freezeStandbys(r *pgtest.Replicas, f *fleet) {
	standbys := r.Standbys()
	r.Freeze(standbys[0]) // one of them does no harm
	rng := rand.New(rand.NewPCG(f.crowds[0].Seed, 1))
	for _, c := range f.crowds {
		env.Eventually(f.T, "a push is made with one frozen standby of two", func() bool { return c.Create(rng) == nil })
	}
	r.Freeze(standbys[1])
	before := f.crowds[0].Put.Load()
	env.Eventually(f.T, "a client is put off", func() bool { return f.crowds[0].Put.Load() > before })
	r.Thaw(standbys[0])
	r.Thaw(standbys[1])
}

// failOver has two servers work over three nodes of PostgreSQL while something happens to
// those.
func failOver(t *testing.T, seed uint64, happens func(*pgtest.Replicas, *fleet)) bool {
	t.Helper()
	return t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		r := pgtest.NewReplicas(t, nodes)
		f := newFleet(t, r.URL(), 2, seed, briefRequests)
		loads := f.work(answersBefore)
		f.away(true)
		happens(r, f)
		f.primary = r.PrimaryURL()
		f.await200()
		for _, c := range f.crowds {
			before := c.Answered.Load()
			env.Eventually(t, "a server answers as before", func() bool { return c.Answered.Load() > before+answersBefore })
		}
		for _, l := range loads {
			l.End()
		}
		f.away(false)
		f.judgeAway()
		f.awaitQuiet()
		f.verify()
		f.stop()
	})
}
