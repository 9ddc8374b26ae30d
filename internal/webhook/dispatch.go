package webhook

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pushbox/store"
)

// A pace says how messages are sent, and how long it is until they are tried again.
type pace struct {
	slots int           // messages on their way at the same time
	batch int           // messages of one webhook that are sent one after the other
	turn  time.Duration // that those may take, before others have theirs
	first time.Duration // between the first try and the second; then twice as long each time
	most  time.Duration // at most
	rest  time.Duration // between two looks at the outbox, at least
	grace time.Duration // that a stop gives to what is on its way
	quiet time.Duration // between two lines about messages that found no room
}

func usualPace() pace {
	return pace{
		slots: 16, batch: 32, turn: 5 * time.Second, first: 5 * time.Second, most: time.Hour,
		rest: 20 * time.Millisecond, grace: 3 * time.Second, quiet: time.Minute,
	}
}

// Options say what a Dispatcher sends, and with what.
type Options struct {
	Store    *store.Store
	Sender   *Sender
	Instance *store.HookTarget // the webhook of the instance; nil: there is none
	Log      zerolog.Logger
}

// A Dispatcher sends what waits in the outbox of a store.
type Dispatcher struct {
	Options
	pace     pace
	finished chan struct{} // has a value when a webhook had its turn
	working  sync.WaitGroup

	mu       sync.Mutex
	instance *store.HookTarget // nil: there is none, or it is gone
	lanes    map[uint64]*lane
	hosts    map[string]bool   // with their ports, that a message is on its way to
	known    map[uint64]string // hosts of webhooks whose turn it could not be, as theirs is in hosts
	noted    uint64            // messages dropped that the log tells of
	notedAt  time.Time
}

// A lane is the way to one webhook. There is one while a message is on its way, and
// while the webhook fails.
type lane struct {
	to       uint64
	host     string
	busy     bool
	failures int       // in a row
	until    time.Time // it is left alone
}

// New returns a dispatcher, which does nothing before Run.
func New(o Options) *Dispatcher {
	return &Dispatcher{
		Options: o, pace: usualPace(), finished: make(chan struct{}, 1), instance: o.Instance,
		lanes: make(map[uint64]*lane), hosts: make(map[string]bool), known: make(map[uint64]string),
	}
}

// Run sends messages until ctx ends. What is on its way then has a few seconds. When
// it returns, nothing is on its way any more, and what was not delivered waits for
// the next run.
func (d *Dispatcher) Run(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer d.Sender.Close()
	failures := 0
	for ctx.Err() == nil {
		begun := time.Now()
		wait, err := d.round(ctx, working)
		if err != nil && ctx.Err() == nil {
			d.Log.Error().Err(err).Msg("the outbox could not be read")
			failures++
			wait = d.backoff(failures - 1)
		} else {
			failures = 0
		}
		// A look at a long outbox takes a while, and there is other work.
		if !d.sleep(ctx, wait, max(d.pace.rest, 4*time.Since(begun)), failures > 0) {
			break
		}
	}
	late := time.AfterFunc(d.pace.grace, stop)
	defer late.Stop()
	d.working.Wait()
	return nil
}

// sleep waits for some time, or for something to do, but for no less than rest. It
// reports false if ctx ended first.
func (d *Dispatcher) sleep(ctx context.Context, wait, rest time.Duration, failing bool) bool {
	told, finished := d.Store.Told(), d.finished
	if failing {
		told, finished = nil, nil
	}
	end, least := time.NewTimer(max(wait, rest)), time.NewTimer(rest)
	defer end.Stop()
	defer least.Stop()
	select {
	case <-end.C:
		return true
	case <-told:
	case <-finished:
	case <-ctx.Done():
		return false
	}
	select {
	case <-least.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// round looks at the outbox once, and has all that is due and not in the way of
// something else sent. It returns how long it is until there may be more, if nothing
// happens before.
func (d *Dispatcher) round(ctx, working context.Context) (time.Duration, error) {
	given, err := d.Store.GiveUp(ctx)
	d.noteGivenUp(given)
	d.noteDropped()
	if err != nil {
		return 0, err
	}
	due, wait, err := d.Store.DueMessages(ctx, d.skipper(), d.pace.slots*d.pace.batch)
	if err != nil {
		return 0, err
	}
	for to, ms := range byLane(due) {
		learned, err := d.start(ctx, working, to, ms)
		if err != nil {
			return 0, err
		}
		if learned { // and behind those messages there may be others
			wait = 0
		}
	}
	return min(wait, d.nextLane()), nil
}

// skipper tells which messages cannot be sent now: those of webhooks and hosts that
// have their turn, or that fail, and those beyond what a turn takes.
func (d *Dispatcher) skipper() func(store.Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	blocked := make(map[uint64]bool)
	for to, l := range d.lanes {
		blocked[to] = l.busy || d.hosts[l.host] || time.Now().Before(l.until)
	}
	for to, host := range d.known {
		if d.hosts[host] {
			blocked[to] = true
		} else {
			delete(d.known, to)
		}
	}
	taken := make(map[uint64]int)
	return func(m store.Message) bool {
		if m.Route != store.ByWebhook || blocked[m.To] || taken[m.To] >= d.pace.batch {
			return true
		}
		taken[m.To]++
		return false
	}
}

// byLane sorts messages by the webhook that they go to.
func byLane(ms []store.Message) map[uint64][]store.Message {
	lanes := make(map[uint64][]store.Message)
	for _, m := range ms {
		lanes[m.To] = append(lanes[m.To], m)
	}
	return lanes
}

// start has the messages of a webhook sent, if there is a slot and nothing is on its
// way to the same host; it reports whether it learned just now that something is.
// Messages that nobody wants any more end.
func (d *Dispatcher) start(ctx, working context.Context, to uint64, ms []store.Message) (learned bool, err error) {
	target, host, wanted := d.target(to)
	if !wanted {
		d.mu.Lock()
		delete(d.lanes, to)
		d.mu.Unlock()
		return false, d.Store.EndMessages(ctx, ms)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hosts[host] {
		d.known[to] = host
		return true, nil
	}
	if len(d.hosts) >= d.pace.slots {
		return false, nil
	}
	l := d.lanes[to]
	if l == nil {
		l = &lane{to: to}
		d.lanes[to] = l
	}
	l.host, l.busy = host, true
	d.hosts[host] = true
	d.working.Go(func() {
		d.work(ctx, working, l, target, ms)
		d.leave(l)
	})
	return false, nil
}

// leave ends the turn of a webhook.
func (d *Dispatcher) leave(l *lane) {
	d.mu.Lock()
	l.busy = false
	delete(d.hosts, l.host)
	if l.failures == 0 {
		delete(d.lanes, l.to)
	}
	d.mu.Unlock()
	select {
	case d.finished <- struct{}{}:
	default:
	}
}

// target is where a webhook leads, and its host and port; false if nothing is to be sent there.
func (d *Dispatcher) target(to uint64) (t store.HookTarget, host string, wanted bool) {
	if to == 0 {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.instance == nil {
			return t, "", false
		}
		t = *d.instance
	} else {
		h, err := d.Store.ActiveHook(store.HookID(to))
		if err != nil {
			return t, "", false
		}
		t = h.HookTarget
	}
	if u, err := d.Sender.policy.Check(t.URL.Reveal()); err == nil {
		host = net.JoinHostPort(hostOf(u), u.Port())
	}
	return t, host, true
}

// nextLane is how long it is until the first webhook that fails is tried again.
func (d *Dispatcher) nextLane() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := time.Minute
	for _, l := range d.lanes {
		if !l.busy {
			wait = min(wait, max(0, time.Until(l.until)))
		}
	}
	return wait
}
