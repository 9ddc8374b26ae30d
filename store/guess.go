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

// A guesser runs Argon2: at most one a core at a time, a bounded number
// waiting, and for passphrases only within the limits of guessing.
type guesser struct {
	waiting   chan struct{}
	running   chan struct{}
	perClient *limit.Window
	perPush   *limit.Window

	mu   sync.Mutex
	idle *sync.Cond
	busy map[ID]bool // pushes of which a passphrase is being checked
}

func newGuesser(c Clock, g Guessing, cores int) *guesser {
	q := &guesser{
		waiting:   make(chan struct{}, g.Queue+cores),
		running:   make(chan struct{}, cores),
		perClient: limit.NewWindow(g.PerClient, time.Minute, g.Clients, c.Elapsed),
		perPush:   limit.NewWindow(g.PerPush, 10*time.Minute, g.Clients, c.Elapsed),
		busy:      make(map[ID]bool),
	}
	q.idle = sync.NewCond(&q.mu)
	return q
}

// hash runs f, which runs Argon2. ErrBusy if too many wait for that.
func (g *guesser) hash(ctx context.Context, f func() error) error {
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return ErrBusy
	}
	select {
	case g.running <- struct{}{}:
		defer func() { <-g.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return f()
}

// check runs open, which tries the passphrase on a push, if the limits allow
// another guess: ErrPassphrase if it is wrong or missing, ErrLocked if there
// were too many wrong ones. Only a wrong one counts. Guesses at one push take
// turns, so that no number of them at once gets past the limits.
func (g *guesser) check(ctx context.Context, id ID, client string, passphrase secret.Text, open func() error) error {
	if passphrase.IsZero() {
		return ErrPassphrase
	}
	if err := g.locked(id, client); err != nil {
		return err
	}
	return g.hash(ctx, func() error {
		g.enter(id)
		defer g.leave(id)
		if err := g.locked(id, client); err != nil {
			return err
		}
		err := open()
		if !errors.Is(err, seal.ErrPassphrase) {
			return err
		}
		g.perClient.Add(clientKey(id, client))
		g.perPush.Add(string(id[:]))
		return ErrPassphrase
	})
}

func (g *guesser) locked(id ID, client string) error {
	full, wait := g.perPush.Full(string(id[:]))
	if !full {
		full, wait = g.perClient.Full(clientKey(id, client))
	}
	if full {
		return &LockedError{RetryAfter: wait}
	}
	return nil
}

func clientKey(id ID, client string) string { return string(id[:]) + client }

// enter waits until no other guess at the push runs; those that do have a core
// of their own, so the wait is short.
func (g *guesser) enter(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.busy[id] {
		g.idle.Wait()
	}
	g.busy[id] = true
}

func (g *guesser) leave(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.busy, id)
	g.idle.Broadcast()
}
