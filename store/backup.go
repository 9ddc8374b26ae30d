package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pushbox/store/seal"
)

// A Backup is a copy of all that a store holds, as it was at one instant. It does
// not hold the key that it is sealed under.
type Backup struct {
	Path string    // of the copy, which is its owner's to move away or remove
	Size int64     // bytes
	At   time.Time // it holds all that was done before
}

// Backup makes a copy of the store in a file of mode 0600 beside path, or beside
// the database where path is empty, under a temporary name that
// durable.RemoveLeftovers finds, and sees that it opens, that every page and every
// promise in it holds, and that its key ring opens with the key of the store. Reads
// and writes go on meanwhile. It calls progress, from one goroutine, with bytes
// copied and bytes in all.
//
// ErrBusy if a compaction or another backup runs, or so much is written that none
// can be made; ErrFull if there is no room for the copy; a *DamageError if the copy
// is not as it should be. After an error there is no copy.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) (Backup, error) {
	b, key := Backup{At: s.time.read().now}, s.rootKey()
	if err := s.freeOrphans(ctx); err != nil { // or they would be copied, too
		return Backup{}, err
	}
	e, temp, err := s.engine.Backup(ctx, path, progress)
	if err != nil {
		return Backup{}, err
	}
	b.Path = temp
	if err = verify(ctx, e, key); errors.Is(err, ErrKey) { // it was replaced before the copy was whole
		err = verify(ctx, e, s.rootKey())
	}
	err = errors.Join(err, e.Close())
	if err == nil {
		b.Size, err = sizeOf(temp)
	}
	if err != nil {
		return Backup{}, errors.Join(fmt.Errorf("verify the backup: %w", err), os.Remove(temp))
	}
	return b, nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// verify sees that an engine keeps a store as it should be, under that key.
func verify(ctx context.Context, e Engine, root seal.RootKey) error {
	sealed, err := e.KeyRing(ctx)
	if err != nil {
		return err
	}
	if _, err := openRing(root, sealed); err != nil {
		return err
	}
	problems, err := problemsOf(ctx, e)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &DamageError{problems}
	}
	return nil
}

// A DamageError is an ErrCorrupt that knows what a check found.
type DamageError struct{ Problems []string }

func (e *DamageError) Error() string {
	return fmt.Sprintf("%v: a check finds %d problems, the first of which is: %s", ErrCorrupt, len(e.Problems), e.Problems[0])
}

// Unwrap returns ErrCorrupt.
func (*DamageError) Unwrap() error { return ErrCorrupt }

// CheckKey sees whether root is the key that a sealed key ring was sealed under:
// else ErrKey, or ErrCorrupt where it is no key ring.
func CheckKey(root seal.RootKey, sealed []byte) error {
	_, err := openRing(root, sealed)
	return err
}
