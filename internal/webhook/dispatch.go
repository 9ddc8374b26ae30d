// Package webhook sends events of pushes to the servers of their owners.
//
// Messages wait in the store's outbox: the transaction that writes an audit entry also
// writes its messages. A Dispatcher sends them as the Standard Webhooks specification says:
// a POST of JSON, with an ID that is the same for every try, a time stamp, and an
// HMAC-SHA256 of both and of the body. A message is delivered at least once, or given up
// with a line in the log. A webhook of a chat gets a sentence in its form, signed in the same way.
//
// Any account may name an address, and the server may reach addresses that its accounts cannot:
// databases, or the metadata of a cloud. So a Policy says where messages may go. The Sender checks
// it for each connection, after it has resolved the name. It uses no proxy and follows no redirect.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/retry"
	"pushbox/store"
	"pushbox/store/record"
)

type tuning struct {
	slots int           // messages that are sent at the same time
	batch int           // messages of one webhook that are sent one after the other
	turn  time.Duration // for a batch, before other webhooks have their turn
	retry retry.Policy  // for a message, and for a webhook that fails
	rest  time.Duration // least time between two polls of the outbox
	store time.Duration // for the store, when a turn ends
	grace time.Duration // that a stop gives to messages that are being sent
	quiet time.Duration // between two log lines about dropped messages
}

func usualTuning() tuning {
	return tuning{
		slots: 16, batch: 32, turn: 5 * time.Second, retry: retry.Policy{First: 5 * time.Second, Most: time.Hour},
		rest: 20 * time.Millisecond, store: 5 * time.Second, grace: 3 * time.Second, quiet: time.Minute,
	}
}

// Options say where a Dispatcher's messages come from, and how it sends them.
type Options struct {
	Store    *store.Store
	Sender   *Sender
	Instance *store.HookTarget // the webhook of the instance; nil: there is none
	Log      zerolog.Logger
}

// A Dispatcher sends the messages to webhooks in the outbox of a store.
type Dispatcher struct {
	Options
	tuning   tuning
	finished chan struct{} // has a value when a webhook had its turn
	working  sync.WaitGroup
	given    atomic.Uint64 // messages that were given up

	mu           sync.Mutex
	instance     *store.HookTarget // nil: there is none, or it is disabled
	destinations map[uint64]*destination
	hosts        map[string]bool   // with their ports, that messages are being sent to
	queued       map[uint64]string // hosts of webhooks that wait for their host
	noted        uint64            // dropped messages that the log counts
	notedAt      time.Time
}

// A destination is the state of one webhook. It exists while messages are being sent to the
// webhook, and while the webhook fails.
type destination struct {
	to       uint64
	host     string
	busy     bool
	failures int       // in a row
	until    time.Time // when its pause ends
}

// New returns a dispatcher. Run starts it.
func New(o Options) *Dispatcher {
	return &Dispatcher{
		Options: o, tuning: usualTuning(), finished: make(chan struct{}, 1), instance: o.Instance,
		destinations: make(map[uint64]*destination), hosts: make(map[string]bool), queued: make(map[uint64]string),
	}
}

// Run sends messages until ctx ends. Messages that are being sent then have a few more
// seconds. When it returns, nothing is being sent, and undelivered messages wait for the
// next run. It returns nil.
func (d *Dispatcher) Run(ctx context.Context) error {
	working, end := retry.Linger(ctx, d.tuning.grace)
	defer end()
	defer d.Sender.Close()
	failures := 0
	retry.Rounds(ctx, d.tuning.rest, retry.News{d.Store.OutboxChanged(record.ByWebhook), d.finished}, func() (wait time.Duration, early bool) {
		wait, err := d.round(ctx, working)
		if err == nil || ctx.Err() != nil {
			failures = 0
			return wait, true
		}
		if !errors.Is(err, record.ErrUnavailable) {
			d.Log.Error().Err(err).Msg("the outbox could not be read")
		}
		failures++
		return d.tuning.retry.After(failures - 1), false
	})
	d.working.Wait()
	return nil
}

// round polls the outbox once, and starts sending the due messages whose webhook and host are free.
// It returns how long to wait until the next poll, if nothing changes.
func (d *Dispatcher) round(ctx, working context.Context) (time.Duration, error) {
	given, err := d.Store.GiveUp(ctx, record.ByWebhook)
	d.logMessagesGivenUp(given)
	d.noteDropped()
	if err != nil {
		return 0, err
	}
	due, wait, err := d.Store.DueMessages(ctx, record.MessageQuery{
		Route: record.ByWebhook, Except: d.blocked(), Each: d.tuning.batch, Limit: d.tuning.slots * d.tuning.batch,
	})
	if err != nil {
		return 0, err
	}
	byDestination := make(map[uint64][]record.Message)
	for _, m := range due {
		byDestination[m.To] = append(byDestination[m.To], m)
	}
	for to, ms := range byDestination {
		queued, err := d.start(ctx, working, to, ms)
		if err != nil {
			return 0, err
		}
		if queued { // there may be due messages of other webhooks behind these
			wait = 0
		}
	}
	return min(wait, d.nextTry()), nil
}

func (d *Dispatcher) blocked() map[uint64]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	blocked := make(map[uint64]bool)
	for to, l := range d.destinations {
		blocked[to] = l.busy || d.hosts[l.host] || time.Now().Before(l.until)
	}
	for to, host := range d.queued {
		if d.hosts[host] {
			blocked[to] = true
		} else {
			delete(d.queued, to)
		}
	}
	return blocked
}

// start starts sending the messages of a webhook, if there is a free slot and its host is
// not busy. It reports whether it queued the webhook for its host. It drops the messages of
// a webhook that was removed or disabled, and of no other.
func (d *Dispatcher) start(ctx, working context.Context, to uint64, ms []record.Message) (queued bool, err error) {
	target, host, err := d.target(ctx, to)
	switch {
	case errors.Is(err, record.ErrNotFound):
		d.mu.Lock()
		delete(d.destinations, to)
		d.mu.Unlock()
		return false, d.Store.EndMessages(ctx, ms)
	case err != nil:
		d.mu.Lock()
		l := d.destination(to)
		d.mu.Unlock()
		d.failed(l, ms[0], 0, err)
		return false, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hosts[host] {
		d.queued[to] = host
		return true, nil
	}
	if len(d.hosts) >= d.tuning.slots {
		return false, nil
	}
	l := d.destination(to)
	l.host, l.busy = host, true
	d.hosts[host] = true
	d.working.Go(func() {
		d.work(ctx, working, l, target, ms)
		d.leave(l)
	})
	return false, nil
}

// destination returns the state of a webhook. The caller holds mu.
func (d *Dispatcher) destination(to uint64) *destination {
	l := d.destinations[to]
	if l == nil {
		l = &destination{to: to}
		d.destinations[to] = l
	}
	return l
}

func (d *Dispatcher) leave(l *destination) {
	d.mu.Lock()
	l.busy = false
	delete(d.hosts, l.host)
	if l.failures == 0 {
		delete(d.destinations, l.to)
	}
	d.mu.Unlock()
	select {
	case d.finished <- struct{}{}:
	default:
	}
}

func (d *Dispatcher) target(ctx context.Context, to uint64) (t store.HookTarget, host string, err error) {
	if to == 0 {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.instance == nil {
			return t, "", record.ErrNotFound
		}
		t = *d.instance
	} else {
		h, err := d.Store.ActiveHook(ctx, record.HookID(to))
		if err != nil {
			return t, "", err
		}
		t = h.HookTarget
	}
	if u, err := d.Sender.policy.Check(t.URL.Reveal()); err == nil { // else the Sender refuses it, and says why
		host = net.JoinHostPort(hostOf(u), u.Port())
	}
	return t, host, nil
}

func (d *Dispatcher) nextTry() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := time.Minute
	for _, l := range d.destinations {
		if !l.busy {
			wait = min(wait, max(0, time.Until(l.until)))
		}
	}
	return wait
}

// A Failing webhook has not accepted a message in its last tries.
type Failing struct {
	ID    record.HookID // 0: the webhook of the instance
	Tries int           // in a row, since the server started
	Next  time.Time     // when the next try is due
}

// Failing lists the webhooks whose last try failed, the one with the most failed tries first.
func (d *Dispatcher) Failing() (all []Failing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for to, l := range d.destinations {
		if l.failures > 0 {
			all = append(all, Failing{ID: record.HookID(to), Tries: l.failures, Next: l.until})
		}
	}
	slices.SortFunc(all, func(a, b Failing) int {
		return cmp.Or(cmp.Compare(b.Tries, a.Tries), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Dropped is how many messages to webhooks were dropped since the start, because the outbox was
// full or they were given up.
func (d *Dispatcher) Dropped() uint64 { return d.given.Load() + d.Store.Dropped() }
