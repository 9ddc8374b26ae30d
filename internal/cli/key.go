package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
)

func (a *app) keyRotate() *cobra.Command {
	var discard bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the master key with a new one",
		Long: `Make a new master key and put it into the key file. Then seal audit logs, names,
notes, webhooks and waiting messages anew under new keys, write the database file
anew, remove old databases that upgrades have kept (pushbox.db.schema*), and make sure
that nothing in the file opens with the old master key. A running server continues,
without a restart. The file needs room for a copy of itself.

If this is interrupted, the server goes on with sealing, at the latest after its next
start, which uses the key that opens the database. Then run the command again: only
the command removes old databases, and makes sure that nothing opens with the old key.
It goes on with the new key, but after a restart it makes another one.

Pushes that are live now stay under a key from before until they end. An attacker can
open such a push with its link, the old master key, and two copies of the database:
one from before and one from after. The command says how many there are, and until
when.

Earlier backups open only with the old key. It is kept beside the key file, in a
file with the time in its name, until you remove it.`,
		Example: `  pushbox key rotate
  pushbox key rotate --discard-old`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := a.progress("sealing anew")
			r, err := administer(a, cmd, admin.KeyRotate.WithProgress(p.set), admin.Rotation{DiscardOld: discard})
			p.end()
			if err != nil {
				return a.notRotated(cmd, discard, err)
			}
			a.say(fmt.Sprintf("put a new master key (ID %s) into %s", r.ID, r.File))
			if r.Old != "" {
				a.say(fmt.Sprintf("the old key (ID %s) is kept in %s: earlier backups open only with it; remove it once you need none of them", r.OldID, r.Old))
			} else {
				a.say(fmt.Sprintf("the old key (ID %s) is gone: earlier backups open only with a copy of it", r.OldID))
			}
			a.say(sealedAnew(r))
			if r.Copies > 0 {
				a.say(fmt.Sprintf("removed %s that upgrades had kept", humanize.Count(r.Copies, "old database", "old databases")))
			}
			a.say("keep a copy of the new key in another place than the database, such as on paper: pushbox key export")
			return nil
		},
	}
	cmd.Flags().BoolVar(&discard, "discard-old", false, "do not keep the old key")
	return cmd
}

// sealedAnew says what the old key still opens.
func sealedAnew(r store.KeyRotation) string {
	if r.Live == 0 {
		return "sealed everything anew: nothing in the database opens with the old key"
	}
	return fmt.Sprintf("sealed everything anew except the keys of %s, the last of which ends at %s: an attacker can open such a push with the old key, its link, and copies of the database from before and after",
		humanize.Count(r.Live, "live push", "live pushes"), r.Until.Format(time.RFC3339))
}

// notRotated adds to an error of a rotation what to do about it. Only another rotation
// removes old databases and searches for what the old key opens.
func (a *app) notRotated(cmd *cobra.Command, discard bool, err error) error {
	again := "`pushbox key rotate`"
	if discard {
		again = "`pushbox key rotate --discard-old`"
	}
	switch {
	case errors.Is(err, record.ErrFull):
		return hint.With(err, "make room where the message says, or else for a copy of what is in use%s; then run %s again", a.copyPlace(cmd), again)
	case errors.Is(err, record.ErrBusy):
		return hint.With(err, "run %s again, when less is written or a backup has ended: it goes on with the new key", again)
	case errors.Is(err, context.Canceled):
		return hint.With(err, "it was interrupted: the server goes on with sealing, now or at its next start; run %s again, which makes sure that nothing opens with the old key", again)
	case errors.Is(err, record.ErrDenied):
		return hint.With(err, "stop the server, run `PUSHBOX_MASTER_KEY_FILE=FILE pushbox key rotate`, where FILE is the original of the key, and start it again; with the setting master_key, put the key into such a FILE first")
	default:
		return err
	}
}

func (a *app) key() *cobra.Command {
	return group("key", "Keep, move and replace the master key", a.keyGenerate(), a.keyShow(), a.keyExport(), a.keyImport(), a.keyRotate())
}

// compareKey returns an error if a key does not open the database: a key that is kept for
// years must be the right one. If they cannot be compared, it says so and returns nil. It
// does not change the database, whatever its schema.
func (a *app) compareKey(ctx context.Context, cfg config.Config, key seal.RootKey) error {
	fits, err := fitsDatabase(ctx, cfg, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.say("the key was not compared: there is no database yet")
	case err != nil:
		a.say(fmt.Sprintf("the key could not be compared with the database's: %v", err))
	case !fits:
		return hint.With(fmt.Errorf("%w: it was sealed under another key than this one (ID %s)", record.ErrKey, key.ID()),
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
	sealed, err := instance.KeyRing(ctx, cfg, lockWait)
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
