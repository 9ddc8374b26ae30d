package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"pushbox/store/seal"
)

// A RootKeeper says where the root key is kept.
type RootKeeper struct {
	File  string // the key file, which RotateKey may replace
	Fixed string // in words, where the key comes from if it cannot be replaced; empty: it can
}

// A root is the key that seals the key ring.
type root struct {
	sync.Mutex // held while the ring is sealed, so that it is never sealed under a key that is going
	key        seal.RootKey
	keeper     RootKeeper
}

// KeyID names the root key, without telling it.
func (s *Store) KeyID() string { return s.rootKey().ID() }

// rootKey is the key that the ring is sealed under now.
func (s *Store) rootKey() seal.RootKey {
	s.root.Lock()
	defer s.root.Unlock()
	return s.root.key
}

// A KeyRotation tells what RotateKey did.
type KeyRotation struct {
	File  string // the key file, links followed
	Old   string // where the old key was kept; empty if it was not
	ID    string // of the new key
	OldID string
}

// RotateKey makes a new root key, seals the key ring under it, and puts it into the
// key file; all else stays as it is. The old key is kept beside the key file unless
// discardOld is set: copies of the database from before open with that one alone.
//
// It can be cut short at any moment: the new key is durable before the ring is
// sealed under it, and takes the place of the old one after. SettleKey does what was
// not done. ErrDenied if the key cannot be replaced where it is kept.
func (s *Store) RotateKey(ctx context.Context, discardOld bool) (KeyRotation, error) {
	s.root.Lock()
	defer s.root.Unlock()
	slot, err := s.keySlot()
	if err != nil {
		return KeyRotation{}, err
	}
	old, next := s.root.key, seal.NewRootKey()
	if err := slot.Stage(next); err != nil {
		return KeyRotation{}, fmt.Errorf("%w: the key file %s cannot be replaced: %w", ErrDenied, slot.Path(), err)
	}
	if err := s.engine.SetKeyRing(ctx, s.ring.Load().Sealed(next)); err != nil {
		if !errors.Is(err, ErrFailed) { // after that nobody knows which key it takes, and the next start finds out
			err = errors.Join(err, slot.Unstage())
		}
		return KeyRotation{}, err
	}
	s.root.key = next
	kept, err := slot.Adopt(s.time.read().now, discardOld)
	if err != nil {
		return KeyRotation{}, fmt.Errorf("the database is sealed under a new key, which is in %s and not yet in its place: %w", slot.NextPath(), err)
	}
	return KeyRotation{File: slot.Path(), Old: kept, ID: next.ID(), OldID: old.ID()}, nil
}

// keySlot is where the root key is kept, in order. The caller has locked root.
func (s *Store) keySlot() (slot seal.KeySlot, err error) {
	if keeper := s.root.keeper; keeper.Fixed != "" || keeper.File == "" {
		return slot, fmt.Errorf("%w: the master key comes from %s, which pushbox cannot write to", ErrDenied, keeper.Fixed)
	}
	if slot, err = seal.NewKeySlot(s.root.keeper.File); err != nil {
		return slot, fmt.Errorf("find the key file: %w", err)
	}
	if _, err := settle(slot, s.opens, s.time.read().now); err != nil {
		return slot, err
	}
	there, err := slot.Key()
	if err == nil && !there.Equal(s.root.key) {
		err = fmt.Errorf("%w: the key file %s no longer holds the key that is in use", ErrDenied, slot.Path())
	}
	return slot, err
}

// opens reports whether a key is the one in use.
func (s *Store) opens(k seal.RootKey) bool { return k.Equal(s.root.key) }
