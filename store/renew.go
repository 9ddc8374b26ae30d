package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Renewal is the result of resealing the records after a rotation of the root key.
type Renewal struct {
	Records int64 // records that were sealed or authenticated anew
	// How many live pushes an earlier key still wraps, and when the last of them ends: then the key is dropped. An attacker can open such a push with its
	// link, the old root key, and two copies of the database: from before and from after.
	Live  int
	Until time.Time
}

// renewed are the families of keys that a renewal drops, after it has resealed everything under
// them. If a ring has more than one key of such a family, the renewal is not complete.
func renewed() []seal.Family { return []seal.Family{seal.DetailKeys, seal.AuditKeys, seal.RowKeys} }

// renewing reports whether a renewal is incomplete.
func renewing(ring *seal.Ring) bool {
	for _, f := range renewed() {
		if len(ring.Versions(f)) > 1 {
			return true
		}
	}
	return false
}

// FinishRenewal reseals the remaining records of a rotation that was interrupted. It waits for one
// that runs, and does nothing if there is none. It calls progress with bytes done; the total is not
// known.
func (s *Store) FinishRenewal(ctx context.Context, progress func(done, total int64)) (r Renewal, err error) {
	select {
	case s.renewals <- struct{}{}:
		defer func() { <-s.renewals }()
	case <-ctx.Done():
		return r, ctx.Err()
	}
	return s.finishRenewal(ctx, progress)
}

// RenewIfNeeded is FinishRenewal in the background. It returns how long to wait before the
// next call.
func (s *Store) RenewIfNeeded(ctx context.Context) (wait time.Duration, err error) {
	_, err = s.FinishRenewal(ctx, func(int64, int64) {})
	return tidyRest, instead(err, record.ErrStaleKeys, nil) // another server did it first
}

// finishRenewal does the work. The caller has a place in renewals. It can be interrupted at any
// moment and started again:
//
//  1. It waits until all that was sealed before the newest keys were in use is stored.
//  2. It stores each record again that is sealed under an older key.
//  3. It searches again, and starts over if it finds such records.
//  4. It drops the older keys.
func (s *Store) finishRenewal(ctx context.Context, progress func(done, total int64)) (r Renewal, err error) {
	if !renewing(s.ring.Load()) {
		return r, nil
	}
	select {
	case <-s.epochs.turn():
	case <-ctx.Done():
		return r, ctx.Err()
	}
	for range maxRenewalRounds {
		changed, err := s.engine.Reseal(ctx, resealer{s.ring.Load(), s.time.Read().Now}, progress)
		r.Records += changed
		if err != nil {
			return r, fmt.Errorf("the new keys are in use, and not everything is sealed under them yet: %w", err)
		}
		if err := s.changeHooks(ctx, func(*subscriptions) error { return nil }); err != nil { // which are in memory, too
			return r, err
		}
		if changed == 0 {
			return r, s.dropKeys(ctx)
		}
	}
	return r, fmt.Errorf("%w: records were still written under old keys", record.ErrBusy)
}

// maxRenewalRounds bounds finishRenewal: the second round finds nothing to do.
const maxRenewalRounds = 4

// dropKeys drops all but the newest key of the renewed families; neither Drop nor Retire drops the
// newest.
func (s *Store) dropKeys(ctx context.Context) error {
	return s.changeRing(ctx, record.AdminKeysRenew, func(ring *seal.Ring) (*seal.Ring, string) {
		dropped := 0
		for _, f := range renewed() {
			for _, v := range ring.Versions(f) {
				before := ring
				if f == seal.RowKeys { // the engine will soon read each row
					ring = ring.Drop(f, v.Version)
				} else { // a message that waits in memory may still have the old sealed part
					ring = ring.Retire(f, v.Version)
				}
				if ring != before {
					dropped++
				}
			}
		}
		return ring, strconv.Itoa(dropped) + " dropped"
	})
}

// wrappedBefore counts the live pushes whose KEK is older than the newest audit key, and returns
// when the last of them ends.
func (s *Store) wrappedBefore(ctx context.Context) (n int, until time.Time, err error) {
	ring, now := s.ring.Load(), s.time.Read().Now
	audit, old := ring.Versions(seal.AuditKeys), make(map[uint32]bool)
	for _, v := range ring.Versions(seal.KEKs) {
		old[v.Version] = v.From.Before(audit[len(audit)-1].From)
	}
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return 0, until, err
		}
		for _, p := range ps {
			if v, ok := seal.SealedUnder(seal.KEKs, p.Wrap); ok && old[v] && p.Live() && now.Before(p.ExpiresAt) {
				n, until = n+1, record.Later(until, p.ExpiresAt)
			}
		}
	}
	return n, until, nil
}

// A resealer seals records anew under the newest keys of a ring.
type resealer struct {
	ring *seal.Ring
	now  time.Time
}

// older reports whether sealed is under a key of the family that is not the newest.
func (r resealer) older(f seal.Family, sealed []byte) bool {
	if len(sealed) == 0 {
		return false
	}
	all := r.ring.Versions(f)
	v, ok := seal.SealedUnder(f, sealed)
	return !ok || v != all[len(all)-1].Version
}

// again returns sealed, resealed if it is under an older key.
func (r resealer) again(f seal.Family, sealed []byte, open func([]byte) ([]byte, error), close func([]byte) []byte) ([]byte, error) {
	if !r.older(f, sealed) {
		return sealed, nil
	}
	plain, err := open(sealed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", record.ErrCorrupt, err)
	}
	defer clear(plain)
	return close(plain), nil
}

// ResealPush seals details and link anew. The key of the push itself stays under its KEK,
// since only the link and the passphrase open it.
func (r resealer) ResealPush(p record.Push) (next record.Push, err error) {
	id := p.ID[:]
	p.Details, err = r.again(seal.DetailKeys, p.Details,
		func(b []byte) ([]byte, error) { return r.ring.OpenDetails(id, b) },
		func(b []byte) []byte { return r.ring.SealDetails(id, b) })
	if v, ok := seal.SealedUnder(seal.KEKs, p.Link); err != nil || !ok || v == r.kek() {
		return p, err
	}
	link, err := r.ring.OpenLink(id, p.Link)
	if err != nil {
		return p, fmt.Errorf("%w: %w", record.ErrCorrupt, err)
	}
	p.Link = r.ring.SealLink(r.now, id, link)
	return p, nil
}

// kek returns the version of the KEK that is in use now.
func (r resealer) kek() (version uint32) {
	for i, v := range r.ring.Versions(seal.KEKs) {
		if i == 0 || !v.From.After(r.now) {
			version = v.Version
		}
	}
	return version
}

// ResealEntry reseals the client of an audit entry.
func (r resealer) ResealEntry(id record.ID, e record.Entry) (next record.Entry, err error) {
	e.Sealed, err = r.again(seal.AuditKeys, e.Sealed,
		func(b []byte) ([]byte, error) { return r.ring.OpenEntry(id[:], b) },
		func(b []byte) []byte { return r.ring.SealEntry(id[:], b) })
	return e, err
}

// ResealRecord reseals the sealed parts of a table's record: the secret of the authenticator app
// and the names of passkeys of an account, the address of a session, the target of a webhook, the
// text and the token of a request, a message, and the text of an event. The digest and the chain of
// an event do not change, since the text does not.
func (r resealer) ResealRecord(found record.Record) (record.Record, error) {
	switch one := found.(type) {
	case record.Account:
		return r.account(one)
	case record.Session:
		sealed, err := r.part(one.Digest[:], one.Sealed)
		one.Sealed = sealed
		return one, err
	case record.Hook:
		sealed, err := r.again(seal.DetailKeys, one.Sealed,
			func(b []byte) ([]byte, error) { return r.ring.OpenHook(hookPlace(one), b) },
			func(b []byte) []byte { return r.ring.SealHook(hookPlace(one), b) })
		one.Sealed = sealed
		return one, err
	case record.Request:
		sealed, err := r.again(seal.DetailKeys, one.Sealed,
			func(b []byte) ([]byte, error) { return r.ring.OpenRequest(one.ID[:], b) },
			func(b []byte) []byte { return r.ring.SealRequest(one.ID[:], b) })
		one.Sealed = sealed
		return one, err
	case record.Message:
		sealed, err := r.again(seal.DetailKeys, one.Sealed,
			func(b []byte) ([]byte, error) { return r.ring.OpenMessage(messagePlace(one), b) },
			func(b []byte) []byte { return r.ring.SealMessage(messagePlace(one), b) })
		one.Sealed = sealed
		return one, err
	case record.AdminEvent:
		sealed, err := r.again(seal.AuditKeys, one.Sealed,
			func(b []byte) ([]byte, error) { return r.ring.OpenEvent(one.Digest, b) },
			func(b []byte) []byte { return r.ring.SealEvent(one.Digest, b) })
		one.Sealed = sealed
		return one, err
	default:
		return found, nil
	}
}

func (r resealer) account(a record.Account) (record.Account, error) {
	sealed, err := r.part(binary.BigEndian.AppendUint64(nil, uint64(a.ID)), []byte(a.TOTP))
	if err != nil {
		return a, err
	}
	a.TOTP = string(sealed)
	keys, err := a.PasskeyList()
	for i := 0; i < len(keys) && err == nil; i++ {
		keys[i].Sealed, err = r.part(passkeyPlace(keys[i], a.ID), keys[i].Sealed)
	}
	if err == nil {
		a.SetPasskeyList(keys)
	}
	return a, err
}

// part reseals a part of an account.
func (r resealer) part(id, sealed []byte) ([]byte, error) {
	return r.again(seal.AuditKeys, sealed,
		func(b []byte) ([]byte, error) { return r.ring.OpenAccount(id, b) },
		func(b []byte) []byte { return r.ring.SealAccount(id, b) })
}

// epochs count the operations that seal and store something. Before keys are dropped, the store
// waits for operations that may use them. A method that seals enters before it loads the ring, and
// leaves after the engine has answered. The zero value is ready.
type epochs struct {
	mu  sync.Mutex
	now *epoch // the current one; nil before the first operation
}

// An epoch is the time between two turns.
type epoch struct {
	running int
	over    bool
	ended   chan struct{} // closed when the epoch is over and its last operation has ended
}

// enter begins an operation. The caller passes the result to leave when it ends.
// Operations may be nested.
func (e *epochs) enter() *epoch {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.current()
	p.running++
	return p
}

// leave ends an operation that enter began.
func (e *epochs) leave(p *epoch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.running--
	p.end()
}

// turn begins a new epoch. It returns a channel that is closed once every operation of the epochs
// before has ended.
func (e *epochs) turn() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.current()
	old.over = true
	e.now = nil
	old.end()
	return old.ended
}

func (e *epochs) current() *epoch {
	if e.now == nil {
		e.now = &epoch{ended: make(chan struct{})}
	}
	return e.now
}

// end closes ended if the epoch is over and no operation of it runs.
func (p *epoch) end() {
	if p.over && p.running == 0 {
		close(p.ended)
	}
}

// renewKeys adds a key encryption key when the newest is a month old. At most once a day it drops
// the expired keys under which nothing is sealed, so that copies of what they sealed can no longer
// be opened.
func (s *Store) renewKeys(ctx context.Context, at clock.Instant) error {
	if at.Now != at.Ends { // the clock is in doubt
		return nil
	}
	ring, renewed := s.ring.Load().Rotate(at.Now)
	over, err := s.keysToDrop(ctx, ring, at)
	if err != nil || len(over) == 0 && !renewed {
		return err
	}
	err = s.changeRing(ctx, record.AdminKeysRenew, func(ring *seal.Ring) (*seal.Ring, string) { // a rotation may have replaced the key
		ring, _ = ring.Rotate(at.Now)
		for _, version := range over {
			ring = ring.Drop(seal.KEKs, version)
		}
		return ring, strconv.Itoa(len(over)) + " dropped"
	})
	return instead(err, record.ErrStaleKeys, nil) // another server was first; the next sweep looks again
}

// keysToDrop lists the versions of expired key encryption keys under which nothing is sealed. It
// lists none if it was called within the last day.
func (s *Store) keysToDrop(ctx context.Context, ring *seal.Ring, at clock.Instant) (over []uint32, err error) {
	for _, v := range ring.Versions(seal.KEKs) {
		if !v.To.IsZero() && v.To.Before(at.Now.Add(-keySlack)) {
			over = append(over, v.Version)
		}
	}
	if len(over) == 0 || at.Ends.Sub(s.dropped) < dropRest {
		return nil, nil
	}
	used, err := s.keysInUse(ctx)
	if err != nil {
		return nil, err
	}
	s.dropped = at.Ends
	return slices.DeleteFunc(over, func(version uint32) bool { return used[version] }), nil
}

// keysInUse returns the versions of all key encryption keys that are in use, except by grants. It
// cannot use the creation times of pushes, since the clock may have been wrong.
func (s *Store) keysInUse(ctx context.Context) (map[uint32]bool, error) {
	used := make(map[uint32]bool)
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			for _, sealed := range [...][]byte{p.Wrap, p.Link} {
				if v, ok := seal.SealedUnder(seal.KEKs, sealed); ok {
					used[v] = true
				}
			}
		}
	}
	return used, nil
}
