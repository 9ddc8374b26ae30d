package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

// The times for which tries count. How many tries there may be is a setting, with its
// default in config/limits.go.
const (
	passphrasesPerClientWindow = time.Minute
	passphrasesPerPushWindow   = 10 * time.Minute // at first: see strangersWindow
	signInsPerClientWindow     = 20 * time.Second
	signInsPerAccountWindow    = time.Hour

	doublings = 6                  // of passphrasesPerPushWindow, at most
	remembers = 7 * 24 * time.Hour // how long a client counts as known after a right passphrase

	maxElsewhere = 16 // concurrent requests to a server that checks passwords
)

// queueShare is the part of a queue that one network may have: an eighth.
const queueShare = 8

// Guessing bounds how fast passphrases can be tried. 0: no limit.
type Guessing struct {
	PerClient int // wrong passphrases per push and client in a minute
	PerPush   int // wrong passphrases per push in ten minutes from clients that are not known, later in more
	PerLife   int // wrong passphrases per push in all
	Queue     int // passphrases that may wait to be checked, and as many passwords
}

// SignInLimits bound how fast passwords and codes of accounts can be tried. 0: no
// limit.
type SignInLimits struct {
	PerClient  int // tries per client in 20 seconds; correct tries per account and client; sign-ups per client
	PerAccount int // wrong tries in an hour: per address, with or without an account, and per browser that is known
}

// A guesser runs Argon2: at most once per core at a time. Passphrases and passwords have a queue
// each, and where there are two cores, one of them is always left for the other queue. Passwords
// that another server checks have a queue that uses no core. The engine counts the tries
// (TallyEngine).
type guesser struct {
	passphrases, passwords, elsewhere *limit.Queue

	mu    sync.Mutex
	busy  map[string]chan struct{} // the guesses that run now, by their target; closed when they end
	tried map[string]*underWay     // by client, or by its mark
}

// An underWay is the tries of a client whose outcome is not known yet.
type underWay struct {
	tries int
	ended chan struct{} // closed when one of them ends
}

func newGuesser(g Guessing, cores int) *guesser {
	pool, each := limit.NewPool(cores), max(1, cores-1)
	return &guesser{
		passphrases: pool.NewQueue(each, g.Queue, queueShare),
		passwords:   pool.NewQueue(each, g.Queue, queueShare),
		elsewhere:   limit.NewPool(maxElsewhere).NewQueue(maxElsewhere, g.Queue, queueShare),
		busy:        make(map[string]chan struct{}),
		tried:       make(map[string]*underWay),
	}
}

// bound replaces the lengths of the queues.
func (g *guesser) bound(to Guessing) {
	for _, q := range []*limit.Queue{g.passphrases, g.passwords, g.elsewhere} {
		q.SetWaiting(to.Queue)
	}
}

// doQueued runs f for a client in a queue. ErrBusy if too many wait.
func doQueued(ctx context.Context, q *limit.Queue, client string, f func() error) error {
	return busy(q.Do(ctx, client, f))
}

// busy returns ErrBusy for that of a queue.
func busy(err error) error { return instead(err, limit.ErrBusy, record.ErrBusy) }

// inTurn runs f, which tries a guess that may be wrong. Guesses at one target take turns: a correct
// guess counts as wrong while it runs, and must not lock out the others. The wait is short, since a
// running guess has its own core, unless another server checks it.
func (g *guesser) inTurn(ctx context.Context, what string, f func() error) error {
	if err := g.enter(ctx, what); err != nil {
		return err
	}
	defer g.leave(what)
	return f()
}

func (g *guesser) enter(ctx context.Context, what string) error {
	for {
		before := g.begin(what)
		if before == nil {
			return nil
		}
		select {
		case <-before:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin returns nil if it is the caller's turn, else a channel that is closed when the turn before
// has ended.
func (g *guesser) begin(what string) (before chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if before = g.busy[what]; before == nil {
		g.busy[what] = make(chan struct{})
	}
	return before
}

func (g *guesser) leave(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.busy[what])
	delete(g.busy, what)
}

// beginTry counts a try of a client with count, and returns a function that ends the try.
func (g *guesser) beginTry(ctx context.Context, client string, count func() error) (end func(), err error) {
	err = g.afterOthers(ctx, client, func() error {
		err := count()
		if err == nil {
			g.change(client, 1)
		}
		return err
	})
	return func() { g.change(client, -1) }, err
}

// afterOthers calls f, which reports whether a client has a try left. While it has none and tries
// of the client are running, afterOthers waits for them and calls f again: a correct try is given
// back.
func (g *guesser) afterOthers(ctx context.Context, client string, f func() error) error {
	for {
		var others chan struct{}
		err := g.inTurn(ctx, "tries of "+client, func() error {
			others = g.change(client, 0)
			return f()
		})
		if others == nil || !errors.Is(err, record.ErrLocked) {
			return err
		}
		select {
		case <-others:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change adds to the number of tries of a client that are under way. It returns a channel that is
// closed when the next of them ends; nil if there is none.
func (g *guesser) change(client string, by int) (ended chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.tried[client]
	if u == nil {
		u = &underWay{ended: make(chan struct{})}
		g.tried[client] = u
	}
	if by < 0 {
		close(u.ended)
		u.ended = make(chan struct{})
	}
	if u.tries += by; u.tries == 0 {
		delete(g.tried, client)
		return nil
	}
	return u.ended
}
