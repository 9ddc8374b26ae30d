// Package store says what a push is and what can never happen to it.
//
// A push is created with a view limit and a time limit. It is live until its last view,
// the end of its time limit, or a delete. These promises hold under concurrency and
// across crashes and restarts:
//
//   - A push whose creation was acknowledged can be retrieved until it ends.
//   - A payload is delivered no more often than the view limit allows. A view is counted
//     and in the audit log, durably, before its payload is returned.
//   - After a push was deleted, or a caller was told that it has expired, nothing of it
//     is delivered, whatever the clock does.
//   - A wrong passphrase, a preview and an error count no view.
//   - Files come back as they were sent, or with an error. A retrieval gives a grant to
//     download them. It outlives the last view, and ends soon: with the time limit or a
//     delete of the push at the latest.
//   - After a sweep nothing is left that belongs to no push.
//   - A token that is unknown or malformed, or whose push was purged, gives one answer:
//     ErrNotFound.
//   - The database holds no payload, file, passphrase, url_token, API token, grant,
//     session, second factor, name or note in clear. It holds url_tokens of owned pushes
//     alone, sealed.
//
// Every change of a push is a Rule: a pure function that an Engine applies and audits in one
// atomic, durable step (rules.go). The store seals, opens, keeps the time, and bounds guessing. It
// never logs and knows nothing of HTTP. An engine sees sealed bytes and decides nothing. Package
// cold decides the changes of accounts, sessions, API tokens, webhooks, requests and events, over
// the tables of an engine.
//
// A file named in the plural (pushes.go) holds the operations on a record. Its form is in the
// file of package record that is named in the singular (record/push.go).
package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Store keeps pushes and their promises. It is safe for concurrent use.
type Store struct {
	*shared
	snapshot *Options // nil: the options in force
}

// shared is what a store and its snapshots have in common.
type shared struct {
	engine   record.Engine
	file     record.FileUpkeep // nil: the engine has no file of its own
	root     root
	epochs   epochs // operations that seal under keys of the ring and keep that
	ring     atomic.Pointer[seal.Ring]
	time     *clock.Keeper
	guess    *guesser
	refusals *refusals
	opts     atomic.Pointer[Options] // in force

	hooks    atomic.Pointer[subscriptions]
	hooking  sync.Mutex // held while webhooks, or what they depend on, change
	outbox   *outbox
	watchers watchers

	followed atomic.Uint64 // the last event of the instance log that Follow has read

	lastToken atomic.Int64 // the time in the newest url_token, in Unix milliseconds

	uploads   activeUploads
	downloads downloads
	searches  *limit.Queue
	orphaned  chan struct{} // has a value when a push released files since the last sweep

	renewals chan struct{} // holds a value while records are sealed anew

	removing atomic.Bool // the removal of an account began since finishRemovals last read all accounts

	sweeping          sync.Mutex   // held by Sweep
	kept              time.Time    // the time that keepTime last made durable; guarded by sweeping
	swept             atomic.Int64 // when the last sweep ended without an error, in Unix milliseconds; 0: none did
	lookedForRemovals time.Time    // when finishRemovals last read all accounts; guarded by sweeping
	clearedRequests   time.Time    // when clearRequests last read all requests; guarded by sweeping
	cleared           time.Time    // when clearSessions last read all sessions; guarded by sweeping
	counted           uint64       // the day of which clearQuotas last read all counts; guarded by sweeping
	repeats           time.Time    // when clearRepeats last read all of them; guarded by sweeping
	dropped           time.Time    // when renewKeys last read all pushes; guarded by sweeping

	reminded record.ExpiryPlace // of the push at which remind looked last; guarded by sweeping
}

// Open opens the store that an engine keeps, and makes the key ring of a new one. ErrKey if the key
// ring was sealed under another key, ErrCorrupt if it is damaged or missing. ErrStaleKeys if
// another server made the key ring of a new store meanwhile: then the caller must open the engine
// again.
func Open(ctx context.Context, e record.Engine, key seal.RootKey, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = clock.NewSystem()
	}
	ring, have, err := ringOf(ctx, e, key, o.Clock)
	if err != nil {
		return nil, err
	}
	s := &Store{shared: &shared{
		engine: e, file: o.File, root: root{key: key, keeper: o.Root}, refusals: newRefusals(o.Clock),
		guess: newGuesser(o.Guessing, runtime.GOMAXPROCS(0)), outbox: newOutbox(o.Hooks.Queue),
		orphaned: make(chan struct{}, 1), renewals: make(chan struct{}, 1), searches: limit.NewPool(1).NewQueue(1, maxSearches, queueShare),
	}}
	s.opts.Store(&o)
	s.ring.Store(ring)
	if err = e.Unlock(ctx, ring, have.converter(ring), s.followRing); err == nil {
		err = s.open(ctx, ring, have)
	}
	if err != nil && have == noRing { // it may have read rows under the keys of another server
		if sealed, ringErr := e.KeyRing(ctx); ringErr == nil && sealed != nil {
			err = fmt.Errorf("%w: %w", record.ErrStaleKeys, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open opens a store whose engine is unlocked.
func (s *Store) open(ctx context.Context, ring *seal.Ring, have keptRing) (err error) {
	if s.kept, err = s.engine.KeepTime(ctx, time.Time{}); err != nil {
		return err
	}
	s.time = clock.NewKeeper(s.opts.Load().Clock, s.kept)
	switch have {
	case noRing:
		err = s.firstRing(ctx, ring)
	case olderRing: // from now on the database cannot be mistaken for an older one
		err = s.setRing(ctx, ring, record.AdminKeysRenew, "sealed anew after an upgrade")
	}
	if err == nil {
		err = s.openOutbox(ctx)
	}
	return err
}

// followRing loads a key ring that another server stored. If that server also replaced the root
// key, the new one must be in the key file here. Messages and webhooks in memory may be sealed
// under keys that the server dropped.
func (s *Store) followRing(sealed []byte) (record.RowKeys, error) {
	s.root.Lock()
	defer s.root.Unlock()
	ring, key, err := s.openFollowed(sealed)
	if err != nil {
		return nil, err
	}
	s.root.key = key
	ring = ring.After(s.ring.Load(), seal.DetailKeys, seal.AuditKeys)
	s.ring.Store(ring)
	return ring, nil
}

// A keptRing says which kind of key ring an engine has.
type keptRing int

const (
	presentRing keptRing = iota
	olderRing            // of schema 5 or before
	noRing               // none yet, or it is gone
)

// converter returns what brings records of the time of the ring to the present form. Rows of an
// older schema have no tags, so they are only believed together with a key ring of that time: else
// an attacker who can write the file, without any key, could have rows of the present schema taken
// for older ones.
func (k keptRing) converter(ring *seal.Ring) record.Converter {
	if k == olderRing {
		return converter{ring}
	}
	return nil
}

// ringOf opens the key ring of an engine. If there is none, it makes one, which is not kept yet.
func ringOf(ctx context.Context, e record.Engine, root seal.RootKey, c clock.Clock) (ring *seal.Ring, have keptRing, err error) {
	sealed, err := e.KeyRing(ctx)
	switch {
	case err != nil:
		return nil, have, err
	case sealed == nil:
		return seal.NewRing(c.Now()), noRing, nil
	case seal.IsFirstRing(sealed):
		have = olderRing
	}
	ring, err = openRing(root, sealed)
	return ring, have, err
}

// unlock unlocks an engine that this process has to itself, with its key ring.
func unlock(ctx context.Context, e record.Engine, root seal.RootKey, c clock.Clock) (ring *seal.Ring, have keptRing, err error) {
	if ring, have, err = ringOf(ctx, e, root, c); err == nil {
		err = e.Unlock(ctx, ring, have.converter(ring), nil)
	}
	return ring, have, err
}

// openOutbox counts the messages that wait, and reads the webhooks.
func (s *Store) openOutbox(ctx context.Context) error {
	waiting, err := s.recount(ctx)
	if err != nil {
		return err
	}
	s.outbox.waiting.Store(waiting)
	return s.loadHooks(ctx)
}

func openRing(root seal.RootKey, sealed []byte) (*seal.Ring, error) {
	ring, err := seal.OpenRing(root, sealed)
	switch {
	case errors.Is(err, seal.ErrKey):
		return nil, fmt.Errorf("%w: it was sealed under a different key than this one (ID %s)", record.ErrKey, root.ID())
	case err != nil:
		return nil, fmt.Errorf("%w: its key ring cannot be decrypted", record.ErrCorrupt)
	}
	return ring, nil
}

// firstRing stores the key ring of a new store. A store with pushes but without a key ring has lost
// it.
func (s *Store) firstRing(ctx context.Context, r *seal.Ring) error {
	ps, err := s.engine.Scan(ctx, record.ID{}, 1)
	if err != nil {
		return err
	}
	if len(ps) > 0 {
		return fmt.Errorf("%w: its key ring is missing", record.ErrCorrupt)
	}
	return s.setRing(ctx, r, record.AdminKeysCreate, "")
}

// setRing is keepRing for the key ring with which the store was opened. ErrStaleKeys if another
// server has replaced that meanwhile.
func (s *Store) setRing(ctx context.Context, r *seal.Ring, k record.AdminKind, detail string) error {
	s.root.Lock()
	defer s.root.Unlock()
	if s.ring.Load() != r {
		return record.ErrStaleKeys
	}
	return s.keepRing(ctx, r, k, detail)
}

// changeRing is keepRing for what change makes of the ring in force. If that is the same
// one, nothing is written.
func (s *Store) changeRing(ctx context.Context, k record.AdminKind, change func(*seal.Ring) (next *seal.Ring, detail string)) error {
	s.root.Lock()
	defer s.root.Unlock()
	was := s.ring.Load()
	if r, detail := change(was); r != was {
		return s.keepRing(ctx, r, k, detail)
	}
	return nil
}

// keepRing makes a key ring durable before the store seals anything under it. k and detail are
// those of the event. The caller holds root.
func (s *Store) keepRing(ctx context.Context, r *seal.Ring, k record.AdminKind, detail string) error {
	if err := s.as(Actor{Role: System}).setKeyRing(ctx, s.root.key, r, k, detail); err != nil {
		return err
	}
	s.ring.Store(r)
	return nil
}

// Close waits for a sweep, frees files of pushes that have ended for half of the time that ctx
// leaves, counts refusals that became no event, keeps the time and closes the engine. Nothing else
// works after. The next sweep frees the other files. If the disk has no room for some of this, the
// next start does it, or it is not needed.
func (s *Store) Close(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	return errors.Join(instead(s.freeSome(ctx), record.ErrFull, nil), instead(s.countRefusals(ctx, true), record.ErrFull, nil), instead(s.keepTime(ctx), record.ErrFull, nil), s.engine.Close())
}

// freeSome is freeOrphans for half of the time that ctx leaves.
func (s *Store) freeSome(ctx context.Context) error {
	freeing := ctx
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		freeing, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	err := s.freeOrphans(freeing)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// keepTime makes the greatest time seen durable.
func (s *Store) keepTime(ctx context.Context) error {
	latest := s.time.Latest()
	_, err := s.engine.KeepTime(ctx, latest)
	if err == nil {
		s.kept = latest
	}
	return err
}

// Failed returns a channel that is closed when the outcome of a write is unknown. The
// process should end then: only opening the file again shows what is true.
func (s *Store) Failed() <-chan struct{} { return s.engine.Failed() }

// Check reads the whole store and returns a sentence for each promise that the file
// breaks.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	if err = s.engine.Check(ctx, collect(&problems)); err == nil {
		err = checkAdminEvents(ctx, s.engine, s.ring.Load, collect(&problems))
	}
	return problems, err
}

// Options say how a store behaves.
type Options struct {
	Clock      clock.Clock           // nil: the machine's
	Terms      map[record.Kind]Terms // a kind without terms is disabled
	PurgeAfter time.Duration         // how long expired pushes of accounts stay; 0: for good
	Guessing   Guessing
	Argon2     seal.Cost // cost of new hashes of passwords and passphrases; only tests change it
	Files      FileLimits
	Rules      Rules
	Policies   []Policy // that differ from Terms, Files, Space.Room.Account and Rules
	Sessions   SessionLimits
	SignIns    SignInLimits
	Hooks      HookOptions
	Mail       MailOptions
	Space      record.SpaceLimits // must equal that of the opened engine; Configure bounds it
	Root       RootKeeper         // for Open only
	File       record.FileUpkeep  // the engine, if it has a file of its own; for Open alone
	Shared     bool               // other servers use the same database
	Issuer     string             // the name of this server in authenticator apps, which show 64 characters of it; empty: pushbox
}

// Configure replaces the options, for operations that begin from now on. Earlier guesses and
// sign-ins still count, against the new limits. Clock and Root stay as they were at Open.
func (s *Store) Configure(o Options) {
	o.Clock = s.opts.Load().Clock
	s.guess.bound(o.Guessing)
	s.engine.SetSpaceLimits(o.Space)
	s.opts.Store(&o)
}

// Snapshot returns the same store with the present options, which Configure does not change, for a
// request that must not see two sets of options. Limits of guessing and of space are always those
// in force.
func (s *Store) Snapshot() *Store { return &Store{shared: s.shared, snapshot: s.opts.Load()} }

// options returns the options of s. They never change.
func (s *Store) options() *Options {
	if s.snapshot != nil {
		return s.snapshot
	}
	return s.opts.Load()
}
