package linear_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/server/servertest"
	"pushbox/store/storetest"
)

const (
	linearClients = 12
	linearPushes  = 4 // that are in use at a time: few, so that calls of them overlap
)

// A linearHost is a server that a run uses.
type linearHost interface {
	advance(d time.Duration) error
	sweep() error
}

// A linearSubject is a push in use.
type linearSubject struct {
	n     int
	token string
	plan  linearPlan
	uses  int // that are left
}

// A linearRun is clients that use pushes of one server, and a clock that moves
// meanwhile.
type linearRun struct {
	t       *testing.T
	host    linearHost
	address string
	other   string // the address of another server over the same database; empty: there is none
	bearer  string // of the account that owns what is owned
	seed    uint64
	start   time.Time
	shut    int // one push in this many has a passphrase: each guess takes 30 ms
	calls   atomic.Int64

	clock *storetest.Clock // what the server's shows
	ticks chan struct{}    // one each time that it is due to move

	life  int          // of the server
	dying atomic.Bool  // the server is being killed
	quiet sync.RWMutex // in runs where the clock moves only between calls, each call holds it
	kills bool         // the server is to be killed

	mu      sync.Mutex
	made    int
	slots   [linearPushes]linearSubject
	history []porcupine.Operation
}

// run has the clients make calls until there were n in all, or the server is
// killed. When that many calls were made, reached is called, once.
func (r *linearRun) run(n int64, reached func()) {
	var clients, clock sync.WaitGroup
	r.ticks = make(chan struct{}, 1)
	clock.Go(r.turnClock)
	for id := range linearClients {
		clients.Go(func() {
			c := &linearClient{id: id, run: r, rng: rand.New(rand.NewPCG(r.seed, uint64(r.life*linearClients+id)))}
			c.address = r.address
			if r.other != "" && id%2 == 1 {
				c.address = r.other
			}
			defer c.close()
			for made := r.calls.Add(1); !r.dying.Load() && (r.kills || made <= n); made = r.calls.Add(1) {
				c.act()
				if made%15 == 0 {
					r.tick()
				}
				if made == n {
					reached()
				}
			}
		})
	}
	clients.Wait()
	close(r.ticks)
	clock.Wait()
}

// lastTour makes sure of what chance may leave out: a passphrase that is wrong,
// missing and right; a push whose time is over is deleted, seen, and asked for
// when it is purged.
func (r *linearRun) lastTour() {
	c := &linearClient{run: r}
	c.address = r.address
	defer c.close()
	r.made += 2
	long, short := (7 * day).Milliseconds(), (15 * time.Minute).Milliseconds()
	shut := c.push(r.made-1, linearPlan{payload: "shut", limit: 1, lifetime: long, protected: true})
	for _, g := range []guess{wrongGuess, noGuess, rightGuess} {
		c.use(shut.token, linearCall{push: shut.n, op: opView, guess: g})
	}
	s := c.push(r.made, linearPlan{payload: "the last", limit: 1, lifetime: short, deletable: true})
	r.advance(15 * time.Minute)
	c.use(s.token, linearCall{push: s.n, op: opDelete})
	c.use(s.token, linearCall{push: s.n, op: opView})
	for range 2 {
		r.advance(day / 2)
		r.sweep()
	}
	c.use(s.token, linearCall{push: s.n, op: opView})
}

func (r *linearRun) tick() {
	select {
	case r.ticks <- struct{}{}:
	default:
	}
}

// turnClock moves the clock at each tick, and often sweeps then. Nothing
// else moves it, so a sweep has one time.
func (r *linearRun) turnClock() {
	rng := rand.New(rand.NewPCG(r.seed, uint64(r.life*linearClients+linearClients)<<32))
	for range r.ticks {
		step := time.Duration(1+rng.IntN(9)) * time.Minute
		long := rng.IntN(8) == 0
		if long {
			step += time.Duration(6+rng.IntN(r.hours())) * time.Hour // some pushes last a day; expired anonymous ones stay a day
		}
		if long && r.kills {
			r.sweep()
		}
		if r.dying.Load() || !r.advance(step) {
			continue
		}
		if rng.IntN(3) > 0 || long && r.kills {
			r.sweep()
		}
	}
}

// hours is how much a long step of the clock may vary. A server that is killed
// keeps the time of its last sweep: what comes after must be less than a day, or
// the next one doubts its clock, which is no matter of this test.
func (r *linearRun) hours() int {
	if r.kills {
		return 14
	}
	return 24
}

// advance moves the clock. It reports false if the server is gone.
func (r *linearRun) advance(d time.Duration) bool {
	if r.kills {
		r.quiet.Lock()
		defer r.quiet.Unlock()
	}
	if err := r.host.advance(d); err != nil {
		r.cutOff("the clock", err)
		return false
	}
	return true
}

// cutOff fails the test unless the server is being killed.
func (r *linearRun) cutOff(what string, err error) {
	if !r.dying.Load() {
		r.t.Errorf("%s: %v", what, err)
	}
}

func (r *linearRun) sweep() {
	now, call := r.now(), r.elapsed()
	err := r.host.sweep()
	back := r.elapsed()
	if err != nil {
		r.cutOff("sweep", err)
		back = never
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, op := range []linearOp{opExpire, opPurge} {
		r.history = append(r.history, porcupine.Operation{
			ClientId: linearClients + i, Call: call, Return: back,
			Input: linearCall{op: op, sweep: int(call), lo: now, hi: now, life: r.life, cut: err != nil}, Output: linearAnswer{},
		})
	}
}

func (r *linearRun) now() int64 { return r.clock.Now().UnixMilli() }

func (r *linearRun) elapsed() int64 { return time.Since(r.start).Nanoseconds() }

// take counts a use of the push in a slot. Where it has none left, the caller
// is to make the next one, whose number it gets; others keep using the old one
// for a while.
func (r *linearRun) take(slot int) (s linearSubject, next int) {
	const meanwhile = 5
	r.mu.Lock()
	defer r.mu.Unlock()
	held := &r.slots[slot]
	if held.token != "" && held.uses > 0 {
		held.uses--
		return *held, 0
	}
	held.uses = meanwhile
	r.made++
	return *held, r.made
}

// A linearHome is a server in this process.
type linearHome struct{ *servertest.Server }

func (h linearHome) advance(d time.Duration) error {
	h.Store.Clock.Advance(d)
	return nil
}

func (h linearHome) sweep() error {
	_, err := h.Store.Sweep(ctx)
	return err
}

var ctx = context.Background()

const (
	day    = 24 * time.Hour
	pushes = "/api/v2/pushes"
)
