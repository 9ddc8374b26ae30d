package proctest

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Crowd is many clients, which use one server after another. The Ledger judges each
// answer that they get.
type Crowd struct {
	T      *testing.T
	Ledger *Ledger
	Seed   uint64 // of the clients' choices
	Bearer string // API token of the owner
	Caller
}

// Next begins another cycle of load, with another server.
func (c *Crowd) Next(url string) {
	c.Reach(url)
	c.Ledger.begin()
}

// A Load is the clients of a Crowd at work.
type Load struct {
	sync.WaitGroup
	ends   atomic.Bool
	left   atomic.Int64  // answers until there are enough
	Enough chan struct{} // closed when there are
}

// End ends the work, without a kill of the server.
func (l *Load) End() {
	l.ends.Store(true)
	l.Wait()
}

// Start lets all clients make requests until the server does not answer, or End. Enough is
// closed after that number of answers. Where a database is away, they keep trying.
func (c *Crowd) Start(answers int64) *Load {
	l := &Load{Enough: make(chan struct{})}
	l.left.Store(answers)
	for id := range Clients {
		rng := rand.New(rand.NewPCG(c.Seed+c.Ledger.cycle, uint64(id)))
		l.Go(func() {
			for !l.ends.Load() {
				err := c.act(rng)
				if IsCut(err) && !c.Killed.Load() {
					time.Sleep(pauseAway)
					continue
				}
				if err != nil {
					if !IsCut(err) {
						c.T.Error(err)
					}
					return
				}
				if l.left.Add(-1) == 0 {
					close(l.Enough)
				}
			}
		})
	}
	return l
}

// pauseAway is how long a client waits that was put off.
const pauseAway = 50 * time.Millisecond

// each calls f for every push, several at a time, and fails the test for each error.
func (c *Crowd) each(pushes []*Push, f func(*Push) error) {
	work := make(chan *Push)
	var all sync.WaitGroup
	for range Clients {
		all.Go(func() {
			for p := range work {
				if err := f(p); err != nil {
					c.T.Errorf("%s: %v", p.Name, err)
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
