package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// Guessing bounds how fast passphrases can be tried.
type Guessing struct {
	PerClient int // wrong passphrases per push and client in a minute
	PerPush   int // wrong passphrases per push in ten minutes
	Queue     int // how many may wait to be checked
	Clients   int // how many pushes and clients are remembered
}

// SignInLimits bound how fast passwords and codes of accounts can be tried. 0:
// any number.
type SignInLimits struct {
	PerClient  int // tries of a client in 20 seconds, right or wrong
	PerAccount int // wrong ones per address in an hour, whether it has an account or not
}

// A guesser runs Argon2: at most one a core at a time, a bounded number
// waiting, and for passphrases and passwords only within the limits of guessing.
type guesser struct {
	turns     *turns
	perClient *limit.Window
	perPush   *limit.Window

	signIns *limit.Window // by client
	wrong   *limit.Window // by address

	mu   sync.Mutex
	idle *sync.Cond
	busy map[string]bool // pushes and addresses of which a guess is being checked
}

func newGuesser(c Clock, g Guessing, l SignInLimits, cores int) *guesser {
	q := &guesser{
		turns:     newTurns(cores, g.Queue),
		perClient: limit.NewWindow(g.PerClient, time.Minute, g.Clients, c.Elapsed),
		perPush:   limit.NewWindow(g.PerPush, 10*time.Minute, g.Clients, c.Elapsed),
		signIns:   limit.NewWindow(l.PerClient, 20*time.Second, g.Clients, c.Elapsed),
		wrong:     limit.NewWindow(l.PerAccount, time.Hour, g.Clients, c.Elapsed),
		busy:      make(map[string]bool),
	}
	q.idle = sync.NewCond(&q.mu)
	return q
}

// bound changes the limits. What was counted stays counted, and how many are
// remembered stays as it is.
func (g *guesser) bound(to Guessing, l SignInLimits) {
	g.turns.setQueue(to.Queue)
	g.perClient.SetHits(to.PerClient)
	g.perPush.SetHits(to.PerPush)
	g.signIns.SetHits(l.PerClient)
	g.wrong.SetHits(l.PerAccount)
}

// hash runs f, which runs Argon2. ErrBusy if too many wait for that.
func (g *guesser) hash(ctx context.Context, f func() error) error { return g.turns.do(ctx, f) }

// check runs open, which tries the passphrase on a push, if the limits allow
// another guess: a *PassphraseError if it is wrong or missing, ErrLocked if there
// were too many wrong ones. Only a wrong one counts. Guesses at one push take
// turns, so that no number of them at once gets past the limits.
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

// missed tells a client that a passphrase is missing or wrong, and how many more
// tries there are.
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
		return &LockedError{RetryAfter: wait, Limit: "passphrases_per_push"}
	}
	if full, wait := g.perClient.Full(clientKey(id, client)); full {
		return &LockedError{RetryAfter: wait, Limit: "passphrases_per_client"}
	}
	return nil
}

func clientKey(id ID, client string) string { return string(id[:]) + client }

// attempt runs try, which tries a password or a code on the account of that
// address, if the limits allow another try. Each counts for the client, and for
// the address if its error is ErrCredentials. Tries at one address take turns.
func (g *guesser) attempt(ctx context.Context, email, client string, try func() error) error {
	if err := g.admit(email, client); err != nil {
		return err
	}
	return g.hash(ctx, func() error {
		g.enter(email)
		defer g.leave(email)
		if full, wait := g.wrong.Full(email); full {
			return &LockedError{RetryAfter: wait, Limit: "sign_ins_per_account"}
		}
		err := try()
		if errors.Is(err, ErrCredentials) {
			g.wrong.Add(email)
		}
		return err
	})
}

// admit counts a try of a client. One that is refused does not count.
func (g *guesser) admit(email, client string) error {
	g.mu.Lock() // between asking and counting
	defer g.mu.Unlock()
	if full, wait := g.wrong.Full(email); full {
		return &LockedError{RetryAfter: wait, Limit: "sign_ins_per_account"}
	}
	if full, wait := g.signIns.Full(client); full {
		return &LockedError{RetryAfter: wait, Limit: "sign_ins_per_client"}
	}
	g.signIns.Add(client)
	return nil
}

// enter waits until no other guess at the push or address runs; those that do
// have a core of their own, so the wait is short.
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
