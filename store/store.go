package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store/seal"
)

// Options say how a store behaves.
type Options struct {
	Clock      Clock          // nil: the machine's
	Terms      map[Kind]Terms // a kind without terms is disabled
	PurgeAfter time.Duration  // how long an account's expired pushes stay; 0: for good
	Guessing   Guessing
	Files      FileLimits
	Sessions   SessionLimits
	SignIns    SignInLimits
	Hooks      HookOptions
	Mail       MailOptions
	Room       Room       // that Configure gives the engine; Open leaves it what it was opened with
	Root       RootKeeper // for Open; Configure leaves it as it is
	Issuer     string     // what authenticator apps call this server, in its first 64 characters; empty: pushbox
}

// A Store keeps pushes and their promises. It is safe for concurrent use.
type Store struct {
	*shared
	pinned *Options // nil: the options are those in force
}

// shared is what a store and those that Pinned returns have in common.
type shared struct {
	engine Engine
	root   root
	ring   atomic.Pointer[seal.Ring]
	time   *timekeeper
	guess  *guesser
	opts   atomic.Pointer[Options] // in force

	hooks   atomic.Pointer[hookBook]
	hooking sync.Mutex // held by whoever changes webhooks
	outbox  *outbox
	posted  chan struct{} // has a value when there is mail that nobody has looked at

	uploads   running
	downloads downloads
	searches  *turns
	released  chan struct{} // has a value when a push gave up files since the last sweep

	sweeping sync.Mutex   // held by Sweep
	kept     time.Time    // what keepTime last made durable; guarded by sweeping
	swept    atomic.Int64 // when the last sweep ended without an error, in Unix milliseconds; 0: none did
	cleared  time.Time    // when all sessions were last looked at; guarded by sweeping
}

// Open returns the store that an engine keeps, sealed under key. In a new
// engine it makes the key ring. ErrKey if key is not the one it was sealed
// under.
func Open(ctx context.Context, e Engine, key seal.RootKey, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = NewSystemClock()
	}
	latest, err := e.LatestTime(ctx)
	if err != nil {
		return nil, err
	}
	s := &Store{shared: &shared{
		engine: e, root: root{key: key, keeper: o.Root}, time: newTimekeeper(o.Clock, latest), kept: latest,
		released: make(chan struct{}, 1), posted: make(chan struct{}, 1), searches: newTurns(1, maxSearches),
	}}
	s.opts.Store(&o)
	s.guess = newGuesser(o.Clock, o.Guessing, o.SignIns, runtime.GOMAXPROCS(0))
	s.outbox = newOutbox(o.Hooks.Queue)
	return s, errors.Join(s.openRing(ctx), s.openOutbox(ctx))
}

// openOutbox learns who is told of what, and how much waits.
func (s *Store) openOutbox(ctx context.Context) error {
	n, err := s.engine.CountMessages(ctx)
	if err != nil {
		return err
	}
	s.outbox.waiting.Store(int64(n))
	if n > 0 {
		err = s.countShares(ctx)
	}
	return errors.Join(err, s.loadHooks(ctx))
}

func (s *Store) openRing(ctx context.Context) error {
	sealed, err := s.engine.KeyRing(ctx)
	if err != nil {
		return err
	}
	if sealed == nil {
		return s.firstRing(ctx)
	}
	ring, err := openRing(s.root.key, sealed)
	if err != nil {
		return err
	}
	s.ring.Store(ring)
	return nil
}

func openRing(root seal.RootKey, sealed []byte) (*seal.Ring, error) {
	ring, err := seal.OpenRing(root, sealed)
	switch {
	case errors.Is(err, seal.ErrKey):
		return nil, fmt.Errorf("%w: it was sealed under another key", ErrKey)
	case err != nil:
		return nil, fmt.Errorf("%w: its key ring does not open", ErrCorrupt)
	}
	return ring, nil
}

// firstRing makes the key ring of a new store. A store that has something in it
// and no key ring has lost it.
func (s *Store) firstRing(ctx context.Context) error {
	ps, err := s.engine.Scan(ctx, ID{}, 1)
	if err != nil {
		return err
	}
	if len(ps) > 0 {
		return fmt.Errorf("%w: its key ring is missing", ErrCorrupt)
	}
	return s.setRing(ctx, seal.NewRing(s.time.read().now))
}

// setRing makes a key ring durable before anything is sealed under it.
func (s *Store) setRing(ctx context.Context, r *seal.Ring) error {
	s.root.Lock()
	defer s.root.Unlock()
	if err := s.engine.SetKeyRing(ctx, r.Sealed(s.root.key)); err != nil {
		return err
	}
	s.ring.Store(r)
	return nil
}

// Close waits for a sweep, keeps the time and closes the engine. The store is of
// no use after.
func (s *Store) Close(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	return errors.Join(s.keepTime(ctx), s.engine.Close())
}

// keepTime makes the greatest time seen durable.
func (s *Store) keepTime(ctx context.Context) error {
	latest := s.time.latest()
	err := s.engine.SetLatestTime(ctx, latest)
	if err == nil {
		s.kept = latest
	}
	return err
}

// Failed is closed when the outcome of a write became unknown. The process
// should then end: opening the file again tells what is true.
func (s *Store) Failed() <-chan struct{} { return s.engine.Failed() }

// Check reads the whole store and returns a sentence for each promise that the
// file does not keep; none if all is well.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	return problemsOf(ctx, s.engine)
}

func problemsOf(ctx context.Context, e Engine) (problems []string, err error) {
	err = e.Check(ctx, collect(&problems))
	return problems, err
}
