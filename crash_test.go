package main

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testenv"
)

const (
	crashClients  = 32
	killsOfOne    = 20 // data directory
	leastAnswers  = 20 // before a kill
	answersSpread = 300
	longestLoad   = 2 * time.Second
	killSpread    = 3 * time.Millisecond // after the last of those answers
)

// A server is killed under load and started again, as often as
// PUSHBOX_TEST_KILLS says. PUSHBOX_TEST_SEED sets what the clients choose and
// when the kills come.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	left, seed := testenv.Length(t, "PUSHBOX_TEST_KILLS", 100, 5), testenv.Seed(t)
	for round := uint64(0); left > 0; round++ {
		kills := min(left, killsOfOne)
		left -= kills
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) { killOften(t, kills, seed+round) }) {
			return
		}
	}
}

// killOften kills the servers of one data directory so often: some of them while
// they compact the file, and some starts as well.
func killOften(t *testing.T, kills, seed uint64) {
	d := newDoomed(t, seed)
	for n := range kills {
		load := d.start()
		compacts := n%4 == 1
		if compacts {
			load.Go(d.compact)
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
	d.verifyLists()
	d.verify(d.ledger.all())
	checkFile(t, d.dir) // through the server
	d.server.stop()
	checkFile(t, d.dir)
	t.Log(d.ledger)
	t.Log(&d.toll)
	if kills == killsOfOne && d.compactions.Load() == 0 && d.halfCopied == 0 {
		t.Error("nothing was ever compacted")
	}
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
			if err := c.create(rng); err != nil {
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

// A load is clients at work.
type load struct {
	sync.WaitGroup
	left   atomic.Int64  // answers until there are enough
	enough chan struct{} // closed when there are
}

// start has all clients make requests until the server does not answer.
func (c *crowd) start(answers int64) *load {
	l := &load{enough: make(chan struct{})}
	l.left.Store(answers)
	for id := range crashClients {
		rng := rand.New(rand.NewPCG(c.seed+c.ledger.cycle, uint64(id)))
		l.Go(func() {
			for {
				if err := c.act(rng); err != nil {
					if !isCut(err) {
						c.t.Error(err)
					}
					return
				}
				if l.left.Add(-1) == 0 {
					close(l.enough)
				}
			}
		})
	}
	return l
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
