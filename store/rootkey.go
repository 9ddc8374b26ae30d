package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"pushbox/store/record"
	"pushbox/store/seal"
)

// A RootKeeper says where the root key is kept.
type RootKeeper struct {
	File  string // the key file, which RotateKey replaces
	Fixed string // where the key comes from, in words, if it cannot be replaced; empty: it can
}

// A root is the key that seals the key ring.
type root struct {
	sync.Mutex // held while the ring is sealed, so that it is never sealed under a key that is being replaced
	key        seal.RootKey
	keeper     RootKeeper
	unfinished *rotation // the last rotation of this process; nil: it has ended, or there was none
}

// A rotation has replaced the root key. It ends when the old key no longer opens anything.
type rotation struct {
	KeyRotation
	old seal.RootKey
}

// KeyID names the root key without revealing it.
func (s *Store) KeyID() string { return s.rootKey().ID() }

// rootKey returns the key that the ring is sealed under now.
func (s *Store) rootKey() seal.RootKey {
	s.root.Lock()
	defer s.root.Unlock()
	return s.root.key
}

// A KeyRotation is the result of RotateKey.
type KeyRotation struct {
	File  string // the key file, links followed
	Old   string // the file with the old key; empty if it was not kept
	ID    string // of the new key
	OldID string
	// How many files of earlier upgrades were removed: the old key opens them.
	Copies int
	Renewal
}

// RotateKey makes a new root key, and new keys of the ring for everything that is sealed or
// authenticated from now on. It seals the ring under the new root key, and puts that into the key
// file. Then it reseals all records, drops the old keys, and erases from the file what they sealed.
// At last it searches the file for a key ring that the old root key opens. When it returns nil
// there is none. Unless discardOld is set, the old key is kept beside the key file, since only that
// key opens older copies of the database. RotateKey calls progress, from one goroutine, with bytes
// done and the total; 0 if that is not known.
//
// It can be interrupted at any moment: the new key is durable before the ring is sealed under it,
// and replaces the old key only after that. FinishRotation and FinishRenewal complete the rest.
// ErrDenied for a client, and if the key file cannot be replaced, ErrFull if its disk is full: then
// nothing was changed. After any other error, or a later ErrFull, the new key may be in use; the
// text says so.
func (s *Store) RotateKey(ctx context.Context, by Actor, discardOld bool, progress func(done, total int64)) (KeyRotation, error) {
	if err := s.as(by).may(0); err != nil {
		return KeyRotation{}, err
	}
	select {
	case s.renewals <- struct{}{}:
		defer func() { <-s.renewals }()
	case <-ctx.Done():
		return KeyRotation{}, ctx.Err()
	}
	r, old, err := s.replaceRoot(ctx, by, discardOld)
	if err != nil {
		return KeyRotation{}, err
	}
	if r.Renewal, err = s.finishRenewal(ctx, progress); err == nil {
		r.Copies, err = s.eraseRings(ctx, old, progress)
	}
	if err == nil {
		r.Live, r.Until, err = s.wrappedBefore(ctx)
	}
	if err == nil {
		s.endRotation()
	} else {
		err = fmt.Errorf("the new master key (ID %s, in %s) is in use, but the old one may still open parts of the database: %w", r.ID, r.File, err)
	}
	return r, err
}

// endRotation notes that the last rotation is complete.
func (s *Store) endRotation() {
	s.root.Lock()
	defer s.root.Unlock()
	s.root.unfinished = nil
}

// replaceRoot makes a new root key and a ring with new keys, and returns the old root key. If the
// last rotation is not complete it continues that one, since its key is new enough.
func (s *Store) replaceRoot(ctx context.Context, by Actor, discardOld bool) (r KeyRotation, old seal.RootKey, err error) {
	s.root.Lock()
	defer s.root.Unlock()
	slot, err := s.keySlot(ctx)
	if err != nil {
		return r, old, err
	}
	if u := s.root.unfinished; u != nil && u.ID == s.root.key.ID() { // other servers have not replaced it since
		return u.KeyRotation, u.old, nil
	}
	at := s.time.Read().Now
	old, next := s.root.key, seal.NewRootKey()
	ring, ok := s.ring.Load().Renew(at)
	if !ok {
		return r, old, fmt.Errorf("%w: the key ring has no version number left for a new key", record.ErrDenied)
	}
	if err := slot.Stage(next); err != nil {
		return r, old, notStaged(slot.Path(), err)
	}
	if err := s.as(by).setKeyRing(ctx, next, ring, record.AdminKeyRotate, old.ID()+" by "+next.ID()); err != nil {
		if !errors.Is(err, record.ErrFailed) && !errors.Is(err, record.ErrUnavailable) { // otherwise it is unknown which key opens the ring: see keySlot and FinishRotation
			err = errors.Join(err, slot.Unstage())
		}
		return r, old, err
	}
	s.root.key = next
	s.ring.Store(ring)
	kept, err := slot.Adopt(at, discardOld)
	if err != nil {
		return r, old, fmt.Errorf("the database is sealed under a new key, which is in %s and not yet in the key file: %w", slot.NextPath(), err)
	}
	r = KeyRotation{File: slot.Path(), Old: kept, ID: next.ID(), OldID: old.ID()}
	s.root.unfinished = &rotation{r, old}
	return r, old, nil
}

// notStaged returns ErrFull for the error of a full disk, else ErrDenied.
func notStaged(file string, err error) error {
	kind := record.ErrDenied
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		kind = record.ErrFull
	}
	return fmt.Errorf("%w: the key file %s cannot be replaced: %w", kind, file, err)
}

// errRingLeft says that the old root key still opens a key ring in the file.
var errRingLeft = errors.New("a key ring that the old key opens is still in the database file; stop the server, and run `pushbox key rotate` again")

// eraseRings erases deleted data and the copies that upgrades kept, and makes sure that old opens
// nothing in the file. It removes the copies first, because the compaction may need their space.
func (s *Store) eraseRings(ctx context.Context, old seal.RootKey, progress func(done, total int64)) (copies int, err error) {
	if s.file == nil { // what dead rows, the log and backups of a database still hold is out of reach
		return 0, nil
	}
	if copies, err = s.file.RemoveCopies(ctx, endOfTime()); err != nil {
		return copies, err
	}
	if err := s.engine.Compact(ctx, progress); err != nil {
		return copies, err
	}
	found, err := s.file.FindRing(ctx, old.OpensRing)
	if err == nil && found {
		err = errRingLeft
	}
	return copies, err
}

// keySlot finishes an interrupted rotation and returns the place of the root key. The caller holds
// root.
func (s *Store) keySlot(ctx context.Context) (slot seal.KeySlot, err error) {
	if keeper := s.root.keeper; keeper.Fixed != "" || keeper.File == "" {
		return slot, fmt.Errorf("%w: the master key comes from %s, which pushbox cannot write to", record.ErrDenied, keeper.Fixed)
	}
	if slot, err = seal.NewKeySlot(s.root.keeper.File); err != nil {
		return slot, fmt.Errorf("find the key file: %w", err)
	}
	sealed, err := s.engine.KeyRing(ctx)
	if err != nil {
		return slot, err
	}
	if err := CheckKey(s.root.key, sealed); err != nil { // replaced by another server, or by a rotation whose outcome was unknown
		return slot, instead(err, record.ErrKey, record.ErrStaleKeys)
	}
	if _, err := finishRotation(slot, opensWith(sealed), s.time.Read().Now); err != nil {
		return slot, err
	}
	there, err := slot.Key()
	if err == nil && !there.Equal(s.root.key) {
		err = fmt.Errorf("%w: the key file %s no longer holds the key that is in use", record.ErrDenied, slot.Path())
	}
	return slot, err
}

// opensWith returns a function that reports whether a root key opens a sealed key ring.
func opensWith(sealed []byte) func(seal.RootKey) bool {
	return func(k seal.RootKey) bool {
		_, err := seal.OpenRing(k, sealed)
		return err == nil
	}
}

// openFollowed opens a key ring that another server stored, with the root key in use, the one in
// the key file, or the next one beside it: a rotation of this server with an unknown outcome may
// have succeeded.
func (s *Store) openFollowed(sealed []byte) (ring *seal.Ring, key seal.RootKey, err error) {
	ring, err = openRing(s.root.key, sealed)
	if !errors.Is(err, record.ErrKey) || s.root.keeper.File == "" {
		return ring, s.root.key, err
	}
	slot, slotErr := seal.NewKeySlot(s.root.keeper.File)
	if slotErr != nil {
		return nil, key, err
	}
	for _, load := range [...]func() (seal.RootKey, error){slot.Key, slot.Next} {
		if key, loadErr := load(); loadErr == nil {
			if ring, err := openRing(key, sealed); err == nil {
				return ring, key, nil
			}
		}
	}
	return nil, key, err
}

// CheckKey returns nil if a sealed key ring opens with root, ErrKey if it does not, and
// ErrCorrupt if it is not a key ring.
func CheckKey(root seal.RootKey, sealed []byte) error {
	_, err := openRing(root, sealed)
	return err
}

// CheckKey is CheckKey for the key ring of the store.
func (s *Store) CheckKey(ctx context.Context, root seal.RootKey) error {
	sealed, err := s.engine.KeyRing(ctx)
	if err != nil {
		return err
	}
	return CheckKey(root, sealed)
}

// A RotationOutcome says how FinishRotation ended an interrupted rotation.
type RotationOutcome int

// The outcomes of FinishRotation.
const (
	NothingToFinish RotationOutcome = iota
	KeyTakenBack                    // the ring was not sealed under the new key, which was removed
	KeyAdopted                      // the ring was sealed under the new key, which is now in the key file
	KeyPending                      // the ring was sealed under the new key, but the key file could not be replaced
)

// FinishRotation ends an interrupted rotation of the root key before the store is opened. It
// returns the key that opens the store: the one in the key file, or the new one beside it. If
// neither does, it changes nothing and returns the former, and Open then fails. With KeyPending it
// also returns the reason why the key file could not be replaced; the returned key is valid.
func FinishRotation(ctx context.Context, e record.Engine, file string, now time.Time) (key seal.RootKey, how RotationOutcome, err error) {
	if key, err = seal.LoadKeyFile(file); err != nil {
		return key, NothingToFinish, err
	}
	slot, err := seal.NewKeySlot(file)
	if err != nil {
		return key, NothingToFinish, err
	}
	next, err := slot.Next()
	if errors.Is(err, fs.ErrNotExist) {
		return key, NothingToFinish, nil
	}
	sealed, ringErr := e.KeyRing(ctx)
	if ringErr != nil || sealed == nil || err != nil {
		return key, NothingToFinish, errors.Join(ringErr, err)
	}
	if how, err = finishRotation(slot, opensWith(sealed), now); how == KeyAdopted || how == KeyPending {
		key = next
	}
	return key, how, err
}

// finishRotation ends a rotation whose new key is in slot.
func finishRotation(slot seal.KeySlot, opens func(seal.RootKey) bool, now time.Time) (RotationOutcome, error) {
	next, err := slot.Next()
	if errors.Is(err, fs.ErrNotExist) {
		return NothingToFinish, nil
	}
	if err != nil {
		return NothingToFinish, fmt.Errorf("the key of an interrupted rotation: %w", err)
	}
	current, err := slot.Key()
	switch {
	case err != nil:
		return NothingToFinish, err
	case opens(current):
		return KeyTakenBack, slot.Unstage()
	case !opens(next):
		return NothingToFinish, nil
	}
	if _, err := slot.Adopt(now, false); err != nil {
		return KeyPending, err
	}
	return KeyAdopted, nil
}
