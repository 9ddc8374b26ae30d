package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"pushbox/store/seal"
)

// A Settlement is how SettleKey ended a rotation that was cut short.
type Settlement int

// The ways to end one.
const (
	NothingToSettle Settlement = iota
	KeyTakenBack               // the ring was not sealed under the new key, which is gone
	KeyAdopted                 // it was, and the new key is the key file now
	KeyPending                 // it was, and the key file could not be replaced yet
)

// SettleKey ends a rotation of the root key that was cut short, before the store is
// opened, and returns the key that opens it: the one from the key file, or the one
// that waits beside it. Where neither does, it changes nothing and returns the
// former; Open then says so. An error beside KeyPending is why the key file stays as
// it is; the key that it returns is good all the same.
func SettleKey(ctx context.Context, e Engine, file string, now time.Time) (key seal.RootKey, how Settlement, err error) {
	if key, err = seal.LoadKeyFile(file); err != nil {
		return key, NothingToSettle, err
	}
	slot, err := seal.NewKeySlot(file)
	if err != nil {
		return key, NothingToSettle, err
	}
	next, err := slot.Next()
	if errors.Is(err, fs.ErrNotExist) {
		return key, NothingToSettle, nil
	}
	sealed, ringErr := e.KeyRing(ctx)
	if ringErr != nil || sealed == nil || err != nil {
		return key, NothingToSettle, errors.Join(ringErr, err)
	}
	opens := func(k seal.RootKey) bool {
		_, err := seal.OpenRing(k, sealed)
		return err == nil
	}
	if how, err = settle(slot, opens, now); how == KeyAdopted || how == KeyPending {
		key = next
	}
	return key, how, err
}

// settle ends a rotation of which a key waits.
func settle(slot seal.KeySlot, opens func(seal.RootKey) bool, now time.Time) (Settlement, error) {
	next, err := slot.Next()
	if errors.Is(err, fs.ErrNotExist) {
		return NothingToSettle, nil
	}
	if err != nil {
		return NothingToSettle, fmt.Errorf("the key of a rotation that was cut short: %w", err)
	}
	current, err := slot.Key()
	switch {
	case err != nil:
		return NothingToSettle, err
	case opens(current):
		return KeyTakenBack, slot.Unstage()
	case !opens(next):
		return NothingToSettle, nil
	}
	if _, err := slot.Adopt(now, false); err != nil {
		return KeyPending, err
	}
	return KeyAdopted, nil
}
