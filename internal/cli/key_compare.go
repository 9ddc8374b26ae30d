package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/seal"
)

// compareKey returns an error if a key is not that of the database: a key that is
// kept for years had better be the right one. Where that cannot be found out, it
// says so, and returns none. It changes nothing, whatever schema the database has.
func (a *app) compareKey(ctx context.Context, cfg config.Config, key seal.RootKey) error {
	fits, err := fitsDatabase(ctx, cfg, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.say("there is no database yet that the key could be compared with")
	case err != nil:
		a.say(fmt.Sprintf("the key could not be compared with that of the database: %v", err))
	case !fits:
		return withHint(fmt.Errorf("%w: it was sealed under another key", store.ErrKey),
			"look for the right key; if a rotation was cut short, `pushbox serve` finishes it at its start")
	}
	return nil
}

func fitsDatabase(ctx context.Context, cfg config.Config, key seal.RootKey) (fits bool, err error) {
	client, err := admin.NewClient(admin.SocketPath(cfg.DataDir))
	if err != nil {
		return false, err
	}
	inUse, err := admin.KeyID.Call(ctx, client, admin.None{})
	if !errors.Is(err, admin.ErrNoServer) {
		return inUse.ID == key.ID(), err
	}
	sealed, err := bolt.ReadKeyRing(ctx, databasePath(cfg), lockWait)
	if err != nil {
		return false, err
	}
	if sealed == nil { // a first start that was cut short: nothing is sealed yet
		return true, nil
	}
	_, err = seal.OpenRing(key, sealed)
	if errors.Is(err, seal.ErrKey) {
		return false, nil
	}
	return err == nil, err
}
