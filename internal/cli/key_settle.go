package cli

import (
	"context"
	"fmt"
	"time"

	"pushbox/store"
	"pushbox/store/seal"
)

// settleKey ends a rotation of the master key that was cut short, and returns the key
// that opens the database. Where that cannot be ended yet it says why: the store opens
// all the same if a key fits.
func (o opening) settleKey(ctx context.Context, e store.Engine, key seal.RootKey) seal.RootKey {
	keeper := rootKeeper(o.cfg, o.environ)
	if keeper.File == "" {
		return key
	}
	settled, how, err := store.SettleKey(ctx, e, keeper.File, time.Now())
	if err == nil { // the file may have been replaced while another process had the database
		key = settled
	}
	switch how {
	case store.KeyTakenBack:
		o.note("a rotation of the master key was cut short before the new key was in use; the key is as it was")
	case store.KeyAdopted:
		o.note(fmt.Sprintf("finished a rotation of the master key that was cut short: the new key (ID %s) is in %s, the old one beside it; keep a copy of the new one: pushbox key export",
			settled.ID(), keeper.File))
	case store.KeyPending:
		key = settled
	}
	if err != nil {
		o.note(fmt.Sprintf("a rotation of the master key was cut short, and cannot be finished: %v", err))
	}
	return key
}
