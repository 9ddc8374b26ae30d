package scale

import (
	"math/rand/v2"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// One of three servers is killed under load, again and again: no acknowledged create is
// lost, no view is over the limit, and the others continue. PUSHBOX_TEST_SERVER_KILLS sets how
// often.
func TestAKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	f := newFleet(t, pgtest.URL(t), 3, seed)
	for range env.Length(t, "PUSHBOX_TEST_SERVER_KILLS") {
		loads := f.work(100)
		victim := rng.IntN(len(f.servers))
		time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
		f.crowds[victim].Killed.Store(true)
		f.servers[victim].KillNow()
		loads[victim].Wait()
		for i, c := range f.crowds {
			if before := c.Answered.Load(); i != victim {
				env.Eventually(t, "the others go on", func() bool { return c.Answered.Load() > before+100 })
			}
		}
		f.start(victim)
		f.crowds[victim].Reach(f.servers[victim].URL)
		f.end(loads)
		if t.Failed() {
			return
		}
	}
	f.verify()
	f.stop()
}
