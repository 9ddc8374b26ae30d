package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/clock"
)

// The windows in which guesses are counted. How many guesses a window allows is a setting, with
// its default in config/default.go.
const (
	passphrasesPerClientWindow = time.Minute
	passphrasesPerPushWindow   = 10 * time.Minute // at first: see strangersWindow
	signInsPerClientWindow     = 20 * time.Second
	signInsPerAccountWindow    = time.Hour

	doublings = 6                  // of passphrasesPerPushWindow, at most
	remembers = 7 * 24 * time.Hour // how long a client counts as known after a right passphrase
)

// queueShare is the part of a queue that one network may have: an eighth.
const queueShare = 8

// Guessing bounds how fast passphrases can be tried. 0: no limit.
type Guessing struct {
	PerClient int // wrong passphrases per push and client in a minute
	PerPush   int // wrong passphrases per push in ten minutes from clients that are not known, later in more
	PerLife   int // wrong passphrases per push in all
	Queue     int // passphrases that may wait to be checked, and as many passwords
	Clients   int // how many pushes, clients and addresses are remembered
}

// SignInLimits bound how fast passwords and codes of accounts can be tried. 0: no
// limit.
type SignInLimits struct {
	PerClient  int // tries per client in 20 seconds, right or wrong; as many sign-ups
	PerAccount int // wrong tries in an hour: per address, with or without an account, and per browser that is known
}

// A guesser runs Argon2, within the limits of guessing: at most once per core at a time.
// Passphrases and passwords have a queue each, and where there are two cores, one of
// them is always left for the other queue.
type guesser struct {
	passphrases, passwords *limit.Queue

	perClient *limit.Window // wrong passphrases, by push and client
	perPush   *limit.Window // wrong passphrases, by push
	right     *limit.Window // right passphrases, by push and client: 1 makes the client known

	signIns *limit.Window // by client
	signUps *limit.Window // by client
	wrong   *limit.Window // passwords and codes, by address, browser or session

	mu   sync.Mutex
	idle *sync.Cond
	busy map[string]bool // what is being guessed at
}

func newGuesser(c clock.Clock, g Guessing, l SignInLimits, cores int) *guesser {
	pool, each := limit.NewPool(cores), max(1, cores-1)
	q := &guesser{
		passphrases: pool.NewQueue(each, g.Queue, queueShare),
		passwords:   pool.NewQueue(each, g.Queue, queueShare),
		perClient:   limit.NewWindow(g.PerClient, passphrasesPerClientWindow, g.Clients, c.Elapsed),
		perPush:     limit.NewWindow(g.PerPush, passphrasesPerPushWindow<<doublings, g.Clients, c.Elapsed),
		right:       limit.NewWindow(1, remembers, g.Clients, c.Elapsed),
		signIns:     limit.NewWindow(l.PerClient, signInsPerClientWindow, g.Clients, c.Elapsed),
		signUps:     limit.NewWindow(l.PerClient, signInsPerClientWindow, g.Clients, c.Elapsed),
		wrong:       limit.NewWindow(l.PerAccount, signInsPerAccountWindow, g.Clients, c.Elapsed),
		busy:        make(map[string]bool),
	}
	q.idle = sync.NewCond(&q.mu)
	return q
}

// bound replaces the limits. Counts stay, and how many are remembered stays as it is.
func (g *guesser) bound(to Guessing, l SignInLimits) {
	g.passphrases.SetWaiting(to.Queue)
	g.passwords.SetWaiting(to.Queue)
	g.perClient.SetHits(to.PerClient)
	g.perPush.SetHits(to.PerPush)
	g.signIns.SetHits(l.PerClient)
	g.signUps.SetHits(l.PerClient)
	g.wrong.SetHits(l.PerAccount)
}

// doQueued runs f for a client in a queue. ErrBusy if too many wait.
func doQueued(ctx context.Context, q *limit.Queue, client string, f func() error) error {
	return busy(q.Do(ctx, client, f))
}

// busy returns ErrBusy for that of a queue.
func busy(err error) error { return instead(err, limit.ErrBusy, ErrBusy) }

// inTurn runs f, which tries what may be wrong. Guesses at one thing take turns, so that
// many at once do not get past the limits. The wait is short, since a running guess has a
// core of its own.
func (g *guesser) inTurn(what string, f func() error) error {
	g.enter(what)
	defer g.leave(what)
	return f()
}

func (g *guesser) enter(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.busy[what] {
		g.idle.Wait()
	}
	g.busy[what] = true
}

func (g *guesser) leave(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.busy, what)
	g.idle.Broadcast()
}

// A trier is who tries a password or a code, as the limits count it.
type trier struct {
	client string // Actor.Client, for the queue
	tries  string // what its tries count for: the client, or what is known of it
	wrong  string // what its wrong ones count for: the address, or what is known of it
}

// asStranger is a client that was never signed in to the account of that address.
func asStranger(email, client string) trier { return trier{client, client, "address " + email} }

// asKnown is a client that proved before that it may sign in, by a mark or a session. It
// has limits of its own, which no other client uses up.
func asKnown(by, client string) trier { return trier{client, by, by} }

// attempt runs try, which tries a password or a code, if the limits allow another try.
// Each try counts for the client, and one with ErrCredentials also for the address. A
// try for which the queue has no room counts for nothing.
func (g *guesser) attempt(ctx context.Context, who trier, try func() error) error {
	return g.queued(ctx, g.signIns, LimitSignInsPerClient, who, func() error {
		return g.inTurn(who.wrong, func() error {
			if err := g.lockedOut(who); err != nil {
				return err
			}
			return g.countWrong(who, try())
		})
	})
}

// signUp runs f, which makes an account, if the limits allow the client another sign-up.
func (g *guesser) signUp(ctx context.Context, client string, f func() error) error {
	return g.queued(ctx, g.signUps, LimitSignUps, trier{client: client, tries: client}, f)
}

// queued counts a try in a window and runs f in the queue of passwords.
func (g *guesser) queued(ctx context.Context, tries *limit.Window, name string, who trier, f func() error) error {
	place, err := g.passwords.Join(who.client)
	if err != nil {
		return busy(err)
	}
	defer place.Leave()
	if err := g.lockedOut(who); err != nil {
		return err
	}
	if full, wait := tries.TakeFor("", who.tries); full {
		return &LockedError{RetryAfter: wait, Limit: name}
	}
	if err := place.Wait(ctx); err != nil {
		return err
	}
	return f()
}

func (g *guesser) lockedOut(who trier) error {
	if full, wait := g.wrong.Full(who.wrong); full {
		return &LockedError{RetryAfter: wait, Limit: LimitSignInsPerAccount}
	}
	return nil
}

// countWrong counts an ErrCredentials, and returns err.
func (g *guesser) countWrong(who trier, err error) error {
	if errors.Is(err, ErrCredentials) {
		g.wrong.Add(who.wrong)
	}
	return err
}
