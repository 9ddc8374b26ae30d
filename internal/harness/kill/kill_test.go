package kill

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	killsOfOne    = 20 // data directory
	leastAnswers  = 20 // before a kill
	answersSpread = 300
	longestLoad   = 2 * time.Second
	killSpread    = 3 * time.Millisecond // after the last of those answers
)

// A server is killed under load and started again, PUSHBOX_TEST_KILLS times.
// PUSHBOX_TEST_SEED sets the clients' choices and the moments of the kills.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	left, seed := env.Length(t, "PUSHBOX_TEST_KILLS"), env.Seed(t)
	for round := uint64(0); left > 0; round++ {
		kills := min(left, killsOfOne)
		left -= kills
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) { killOften(t, kills, seed+round) }) {
			return
		}
	}
}

// killOften kills the servers of one data directory: some while they compact the file,
// and some while they start.
func killOften(t *testing.T, kills, seed uint64) {
	d := newKillRun(t, seed)
	for n := range kills {
		load := d.start()
		compacts := n%4 == 1
		if compacts {
			load.Go(d.compact)
		}
		if n == 1 {
			env.Eventually(t, "the file is compacted under load", func() bool { return d.compactions.Load() > 0 })
		}
		d.kill(load)
		if n%5 == 2 {
			cutStart(t, d.dir, time.Duration(d.rng.Int64N(int64(d.usual))))
		}
		d.restart(n%5 == 4)
		if t.Failed() {
			return
		}
	}
	d.VerifyLists()
	d.Verify(d.Ledger.All())
	proctest.CheckFile(t, d.dir) // through the server
	d.server.Stop()
	proctest.CheckFile(t, d.dir)
	t.Log(d.Ledger)
	t.Log(&d.tally)
}

// A first start makes the key and the database; a later one checks that they fit. After
// a kill at any point of a start, the next start must work.
func TestAKillDuringAStartDoesNoHarm(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	proctest.StartServer(t, t.TempDir()).Stop()
	usual := time.Since(begun)
	for range 4 {
		dir := t.TempDir()
		for range 4 {
			cutStart(t, dir, time.Duration(rng.Int64N(int64(usual))))
		}
		server := proctest.StartServer(t, dir)
		c := &proctest.Crowd{T: t, Ledger: proctest.NewLedger(), Bearer: proctest.APIToken(t, dir)}
		c.Next(server.URL)
		for range 3 {
			env.OK(t, c.Create(rng))
		}
		c.Verify(c.Ledger.All())
		server.Stop()
		proctest.CheckFile(t, dir)
	}
}
