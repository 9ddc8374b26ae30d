package proctest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
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

// Look reads the first page of the owner's live or expired pushes.
func (c *Crowd) Look(live bool) error {
	state := "expired"
	if live {
		state = "active"
	}
	before := c.Ledger.over()
	l, err := c.List(state, 1)
	for _, r := range l {
		if r.Expired == live || live && before[r.Token] {
			err = errors.Join(err, fmt.Errorf("P5: among the %s is %s, which is not", state, r.Name))
		}
	}
	return err
}

// List reads a page of the owner's pushes that are "active" or "expired".
func (c *Crowd) List(state string, page int) (l []Record, err error) {
	err = c.Call(http.MethodGet, fmt.Sprintf("%s/%s?page=%d", PushesPath, state, page), c.Bearer, nil, http.StatusOK, &l)
	return l, err
}

// Verify retrieves pushes while no other client does. The server must count what was
// delivered, at most what was cut off as well, and nothing else.
func (c *Crowd) Verify(pushes []*Push) {
	c.T.Helper()
	c.each(pushes, func(p *Push) error {
		r, err := c.View(p, p.Owned)
		if err != nil {
			return err
		}
		counted := c.Ledger.settle(p, r)
		if err := c.fetchAll(p); err != nil {
			return err
		}
		if !p.Owned {
			return nil
		}
		n, err := c.viewEntries(p)
		if err == nil && n != counted {
			err = fmt.Errorf("P4: it counts %d views and has %d entries", counted, n)
		}
		return err
	})
}

// VerifyLists compares the lists of the owner with what was created; those that have
// expired must be listed without their link. A push whose create was not answered may be
// there, once and whole; from now on it must be.
func (c *Crowd) VerifyLists() {
	c.T.Helper()
	listed := make(map[string]Record)
	for _, state := range []string{"active", "expired"} {
		for page := 1; ; page++ {
			l := env.Must(c.List(state, page))(c.T)
			for _, r := range l {
				if _, twice := listed[r.Name]; twice || r.Expired != (state == "expired") {
					c.T.Errorf("P9: %s is listed twice, or as %s by mistake", r.Name, state)
				}
				listed[r.Name] = r
			}
			if len(l) < PerPage {
				break
			}
		}
	}
	for _, p := range c.Ledger.All() {
		switch r, ok := listed[p.Name]; {
		case !p.Owned:
		case !ok || !r.Expired && r.Token != p.Token:
			c.T.Errorf("P1: %s is not listed", p.Name)
		case r.Expired && r.Token == p.Token:
			c.T.Errorf("P13: %s has expired, and its link is listed", p.Name)
		}
		delete(listed, p.Name)
	}
	for name, r := range listed {
		if p := c.Ledger.lost[name]; p != nil && p.Owned {
			c.Ledger.keep(p, r)
			continue
		}
		c.T.Errorf("%s is listed and was never sent", name)
	}
}
