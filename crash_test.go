package main

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"pushbox/internal/testenv"
)

const (
	crashClients = 16
	killsOfOne   = 20                    // data directory
	leastLoad    = 50 * time.Millisecond // before a kill
	loadSpread   = 400 * time.Millisecond
)

// A server is killed under load and started again, as often as
// PUSHBOX_TEST_KILLS says. PUSHBOX_TEST_SEED sets what the clients choose and
// when the kills come.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	left, seed := testenv.Length(t, "PUSHBOX_TEST_KILLS", killsOfOne, killsOfOne), testenv.Seed(t)
	for round := uint64(0); left > 0; round++ {
		kills := min(left, killsOfOne)
		left -= kills
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) { killOften(t, kills, seed+round) }) {
			return
		}
	}
}

// killOften kills the servers of one data directory so often.
func killOften(t *testing.T, kills, seed uint64) {
	dir := t.TempDir()
	server := startVictim(t, dir)
	c := &crowd{t: t, ledger: newLedger(), seed: seed, bearer: apiToken(t, dir)}
	rng := rand.New(rand.NewPCG(seed, crashClients))
	for range kills {
		c.next(server.url)
		load := c.start()
		server.killAfter(leastLoad + time.Duration(rng.Int64N(int64(loadSpread))))
		load.Wait()
		checkFile(t, dir)
		server = startVictim(t, dir)
		c.reach(server.url)
		c.verify(c.ledger.touched())
		if t.Failed() {
			return
		}
	}
	c.verifyLists()
	c.verify(c.ledger.all())
	checkFile(t, dir) // through the server
	server.stop()
	checkFile(t, dir)
	t.Log(c.ledger)
}

// A first start makes the key and the database, a later one looks whether they
// fit. Whenever that is cut off, the next start works.
func TestAKillDuringAStartDoesNoHarm(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	startVictim(t, t.TempDir()).stop()
	usual := time.Since(begun)
	for range 4 {
		dir := t.TempDir()
		for range 4 {
			cutStart(t, dir, time.Duration(rng.Int64N(int64(usual))))
		}
		server := startVictim(t, dir)
		c := &crowd{t: t, ledger: newLedger(), bearer: apiToken(t, dir)}
		c.next(server.url)
		for range 3 {
			if err := c.create(0, rng); err != nil {
				t.Fatal(err)
			}
		}
		c.verify(c.ledger.all())
		server.stop()
		checkFile(t, dir)
	}
}

// A crowd is clients of one server after another.
type crowd struct {
	t      *testing.T
	ledger *ledger
	seed   uint64
	bearer string
	caller
}

// next goes on with a server, for another cycle of load.
func (c *crowd) next(url string) {
	c.reach(url)
	c.ledger.begin()
}

// start has all clients make requests until the server does not answer.
func (c *crowd) start() *sync.WaitGroup {
	var all sync.WaitGroup
	for id := range crashClients {
		rng := rand.New(rand.NewPCG(c.seed+c.ledger.cycle, uint64(id)))
		all.Go(func() {
			for {
				err := c.act(rng)
				if err == nil {
					continue
				}
				if !isCut(err) {
					c.t.Error(err)
				}
				return
			}
		})
	}
	return &all
}

// each does something with every push, several at a time, and fails the test
// for each error.
func (c *crowd) each(pushes []*crashPush, f func(*crashPush) error) {
	work := make(chan *crashPush)
	var all sync.WaitGroup
	for range crashClients {
		all.Go(func() {
			for p := range work {
				if err := f(p); err != nil {
					c.t.Errorf("%s: %v", p.name, err)
				}
			}
		})
	}
	for _, p := range pushes {
		work <- p
	}
	close(work)
	all.Wait()
}
