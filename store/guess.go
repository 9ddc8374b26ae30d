package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/seal"
)

// The windows in which guesses are counted. How many guesses a window allows is a setting, with
// its default in config/default.go.
const (
	passphrasesPerClientWindow = time.Minute
	passphrasesPerPushWindow   = 10 * time.Minute
	signInsPerClientWindow     = 20 * time.Second
	signInsPerAccountWindow    = time.Hour
)

// Guessing bounds how fast passphrases can be tried.
type Guessing struct {
	PerClient int // wrong passphrases per push and client in a minute
	PerPush   int // wrong passphrases per push in ten minutes
	Queue     int // passphrases and passwords that may wait to be checked
	Clients   int // how many pushes, clients and addresses are remembered
}

// SignInLimits bound how fast passwords and codes of accounts can be tried. 0: no
// limit.
type SignInLimits struct {
	PerClient  int // tries per client in 20 seconds, right or wrong
	PerAccount int // wrong tries per address in an hour, with or without an account
}

// A guesser runs Argon2: at most once per core at a time, with a bounded number
// waiting, and within the limits of guessing.
type guesser struct {
	queue     *limit.Queue
	perClient *limit.Window
	perPush   *limit.Window

	signIns *limit.Window // by client
	wrong   *limit.Window // by address

	mu   sync.Mutex
	idle *sync.Cond
	busy map[string]bool // pushes and addresses with a guess that is being checked
}

func newGuesser(c clock.Clock, g Guessing, l SignInLimits, cores int) *guesser {
	q := &guesser{
		queue:     limit.NewQueue(cores, g.Queue),
		perClient: limit.NewWindow(g.PerClient, passphrasesPerClientWindow, g.Clients, c.Elapsed),
		perPush:   limit.NewWindow(g.PerPush, passphrasesPerPushWindow, g.Clients, c.Elapsed),
		signIns:   limit.NewWindow(l.PerClient, signInsPerClientWindow, g.Clients, c.Elapsed),
		wrong:     limit.NewWindow(l.PerAccount, signInsPerAccountWindow, g.Clients, c.Elapsed),
		busy:      make(map[string]bool),
	}
	q.idle = sync.NewCond(&q.mu)
	return q
}

// bound replaces the limits. Counts stay, and how many are remembered stays as it is.
func (g *guesser) bound(to Guessing, l SignInLimits) {
	g.queue.SetWaiting(to.Queue)
	g.perClient.SetHits(to.PerClient)
	g.perPush.SetHits(to.PerPush)
	g.signIns.SetHits(l.PerClient)
	g.wrong.SetHits(l.PerAccount)
}

// hash runs f, which runs Argon2. ErrBusy if too many wait.
func (g *guesser) hash(ctx context.Context, f func() error) error { return doQueued(ctx, g.queue, f) }

// doQueued runs f in a queue. ErrBusy if too many wait.
func doQueued(ctx context.Context, q *limit.Queue, f func() error) error {
	err := q.Do(ctx, f)
	if errors.Is(err, limit.ErrBusy) {
		return ErrBusy
	}
	return err
}

// check runs open, which tries the passphrase on a push, if the limits allow another
// guess. Only a wrong one counts. Guesses at one push take turns, so that many at once
// do not get past the limits. A *PassphraseError if the passphrase is wrong or missing,
// ErrLocked after too many wrong ones.
func (g *guesser) check(ctx context.Context, id ID, client string, passphrase secret.Text, open func() error) error {
	if passphrase.IsZero() {
		return g.missed(id, client)
	}
	if err := g.locked(id, client); err != nil {
		return err
	}
	return g.hash(ctx, func() error {
		g.enter(string(id[:]))
		defer g.leave(string(id[:]))
		if err := g.locked(id, client); err != nil {
			return err
		}
		err := open()
		if !errors.Is(err, seal.ErrPassphrase) {
			return err
		}
		g.perClient.Add(clientKey(id, client))
		g.perPush.Add(string(id[:]))
		return g.missed(id, client)
	})
}

// missed returns the error for a missing or wrong passphrase, with the tries that are
// left.
func (g *guesser) missed(id ID, client string) error {
	e := &PassphraseError{Left: min(g.perPush.Left(string(id[:])), g.perClient.Left(clientKey(id, client)))}
	var locked *LockedError
	if errors.As(g.locked(id, client), &locked) {
		e.Left, e.RetryAfter = 0, locked.RetryAfter
	}
	return e
}

func (g *guesser) locked(id ID, client string) error {
	if full, wait := g.perPush.Full(string(id[:])); full {
		return &LockedError{RetryAfter: wait, Limit: LimitPassphrasesPerPush}
	}
	if full, wait := g.perClient.Full(clientKey(id, client)); full {
		return &LockedError{RetryAfter: wait, Limit: LimitPassphrasesPerClient}
	}
	return nil
}

func clientKey(id ID, client string) string { return string(id[:]) + client }

// attempt runs try, which tries a password or a code of the account of that address, if
// the limits allow another try. Each try counts for the client, and one with
// ErrCredentials also for the address. Tries at one address take turns.
func (g *guesser) attempt(ctx context.Context, email, client string, try func() error) error {
	if err := g.countTry(email, client); err != nil {
		return err
	}
	return g.hash(ctx, func() error {
		g.enter(email)
		defer g.leave(email)
		if full, wait := g.wrong.Full(email); full {
			return &LockedError{RetryAfter: wait, Limit: LimitSignInsPerAccount}
		}
		return g.countWrong(email, try())
	})
}

// countWrong counts an ErrCredentials for an address, and returns err.
func (g *guesser) countWrong(email string, err error) error {
	if errors.Is(err, ErrCredentials) {
		g.wrong.Add(email)
	}
	return err
}

// countTry counts a try of a client, or refuses it.
func (g *guesser) countTry(email, client string) error {
	g.mu.Lock() // between asking and counting
	defer g.mu.Unlock()
	if full, wait := g.wrong.Full(email); full {
		return &LockedError{RetryAfter: wait, Limit: LimitSignInsPerAccount}
	}
	if full, wait := g.signIns.Full(client); full {
		return &LockedError{RetryAfter: wait, Limit: LimitSignInsPerClient}
	}
	g.signIns.Add(client)
	return nil
}

// enter waits until no other guess at the push or address runs. The wait is short,
// since a running guess has a core of its own.
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
