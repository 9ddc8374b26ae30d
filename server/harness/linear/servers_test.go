package linear_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// A linearPair is two victims over one database. Their clocks go as one.
type linearPair [2]*linearVictim

func (p *linearPair) advance(d time.Duration) (err error) {
	defer p[0].clock.Advance(d)
	for _, v := range p { // one of them may be dead
		err = errors.Join(err, v.order(advanceBy(d)))
	}
	return err
}

// sweep has one of them sweep.
func (p *linearPair) sweep() error { return p[rand.IntN(len(p))].sweep() }

// recordServerKills has the clients make n calls of two servers in processes of their own,
// over one PostgreSQL. Now and then one of them is killed, and started again. It returns how
// often.
func (r *linearRun) recordServerKills(n int64) (kills int) {
	home, rng := victimHome{dir: r.t.TempDir(), url: pgtest.URL(r.t)}, rand.New(rand.NewPCG(r.seed, 1<<63))
	bearer, err := home.fill(r.clock)
	env.OK(r.t, err)
	r.bearer = bearer
	var pair linearPair
	addresses := []*string{&r.address, &r.other}
	for i := range pair {
		pair[i], *addresses[i] = startLinearVictim(r.t, home, r.clock)
	}
	r.host = &pair
	for ; r.calls.Load() < n && !r.t.Failed(); r.life++ {
		i := rng.IntN(len(pair))
		r.kill(pair[i], r.calls.Load()+callsOfLife+rng.Int64N(callsSpread), time.Duration(rng.Int64N(int64(killSpread))))
		kills++
		awaitNoStatement(r.t, home)
		pair[i], *addresses[i] = startLinearVictim(r.t, home, r.clock)
		r.dying.Store(false)
	}
	r.lastTour()
	for _, v := range pair {
		if err := v.end(); err != nil {
			r.t.Errorf("a victim ended with: %v", err)
		}
	}
	r.checkHome(home)
	return kills
}

// awaitNoStatement waits until no statement of a killed server runs: what it does, it has
// done before the next call.
func awaitNoStatement(t *testing.T, home victimHome) {
	t.Helper()
	env.Eventually(t, "the statements of a killed server end", func() bool { return pgtest.Running(t, home.url) == 0 })
}
