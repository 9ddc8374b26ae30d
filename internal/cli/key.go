package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/certificate"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store/record"
	"pushbox/store/seal"
)

func (a *app) keyRotate() *cobra.Command {
	var discard bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the master key with a new one",
		Long: `Make a new master key and put it into the key file. Then seal audit logs, names,
notes, webhooks and waiting messages again under new keys, write the database file
again, remove old databases that upgrades have kept (pushbox.db.schema*), and make sure
that nothing in the file opens with the old master key. A running server continues,
without a restart. The file needs room for a copy of itself.

If this is interrupted, the server continues to seal, at the latest after its next
start, which uses the key that opens the database. Then run the command again: only
the command removes old databases, and makes sure that nothing opens with the old key.
It continues with the new key, or after a restart makes another one.

Pushes that are live now stay under an earlier key until they end. An attacker can
open such a push with its link, the old master key, and two copies of the database:
one from before and one from after. The command says how many such pushes there are,
and when the last of them ends.

Earlier backups open only with the old key. The command keeps it beside the key file,
in a file with the time in its name, until you remove it.`,
		Example: `  pushbox key rotate
  pushbox key rotate --discard-old`,
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			r, err := administerWatched(a, cmd, "sealing", admin.KeyRotate, admin.Rotation{DiscardOld: discard})
			if err != nil {
				return notRotated(cfg, discard, err)
			}
			a.sayf("put a new master key (ID %s) into %s", r.ID, r.File)
			if r.Old != "" {
				a.sayf("the old key (ID %s) is kept in %s: earlier backups open only with it; remove it once you need none of them", r.OldID, r.Old)
			} else {
				a.sayf("the old key (ID %s) is gone: earlier backups open only with a copy of it", r.OldID)
			}
			if r.Live == 0 {
				a.say("sealed everything again: nothing in the database opens with the old key")
			} else {
				a.sayf("sealed everything again except the keys of %s, the last of which ends at %s: an attacker can open such a push "+
					"with the old key, its link, and copies of the database from before and after",
					humanize.Count(r.Live, "live push", "live pushes"), r.Until.Format(time.RFC3339))
			}
			if r.Copies > 0 {
				a.sayf("removed %s that upgrades had kept", humanize.Count(r.Copies, "old database", "old databases"))
			}
			return a.done(nil, "keep a copy of the new key in another place than the database, such as on paper: pushbox key export")
		}),
	}
	cmd.Flags().BoolVar(&discard, "discard-old", false, "do not keep the old key")
	return cmd
}

// notRotated adds a hint to an error of a rotation. Only another rotation removes old databases and
// searches for data that the old key opens.
func notRotated(cfg config.Config, discard bool, err error) error {
	again := "`pushbox key rotate`"
	if discard {
		again = "`pushbox key rotate --discard-old`"
	}
	return advise(err,
		knownHint{record.ErrFull, "make room where the message says, or else for a copy of what is in use, in " + cfg.DataDir + "; then run " + again + " again"},
		knownHint{record.ErrBusy, "run " + again + " again to continue with the new key, when there are fewer writes or the backup has ended"},
		knownHint{context.Canceled, "it was interrupted; the server finishes sealing with the new key, at its next start at the latest; run " + again + " again to verify that the old key opens nothing"},
		knownHint{record.ErrDenied, "stop the server, run `PUSHBOX_MASTER_KEY_FILE=FILE pushbox key rotate`, where FILE is the original of the key, and start it again; with the setting master_key, put the key into such a FILE first"})
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
		a.sayf("the key could not be compared with the database's: %v", err)
	case !fits:
		return hint.With(fmt.Errorf("%w: it was sealed under a different key than this one (ID %s)", record.ErrKey, key.ID()),
			"find the right key; if a rotation was interrupted, `pushbox serve` finishes it at its start")
	}
	return nil
}

func fitsDatabase(ctx context.Context, cfg config.Config, key seal.RootKey) (fits bool, err error) {
	inUse, err := ask(ctx, cfg.DataDir, admin.KeyID, admin.None{})
	if !errors.Is(err, admin.ErrNoServer) {
		return inUse.ID == key.ID(), err
	}
	sealed, err := instance.KeyRing(ctx, cfg, lockWait)
	if err != nil || sealed == nil { // nothing is sealed after an interrupted first start
		return err == nil, err
	}
	_, err = seal.OpenRing(key, sealed)
	if errors.Is(err, seal.ErrKey) {
		return false, nil
	}
	return err == nil, err
}

func (a *app) keyCertificate() *cobra.Command {
	return &cobra.Command{
		Use:   "certificate",
		Short: "Print the public key of certificates and its fingerprint",
		Long: `Print the public key that checks certificates of the end of a push, and its
fingerprint, as the server has them at ` + certificate.KeyPath + `.
Publish the fingerprint where others can compare it. The key stays the same when the
master key is replaced.`,
		Example: `  pushbox key certificate
  pushbox key certificate > certificate-key.pem`,
		RunE: a.configured(func(cmd *cobra.Command, _ []string, _ config.Config) error {
			k, err := administer(a, cmd, admin.CertificateKey, admin.None{})
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(certificate.Public(k.Key))
			return err
		}),
	}
}

const noFile = "none: " // begins the place of a key that is in no file

// A shownKey has the public facts about a key.
type shownKey struct {
	ID   string `json:"id"`
	From string `json:"from"`
	Fits string `json:"opens_database"` // yes, no, or why that is not known
}

func (a *app) keyShow() *cobra.Command {
	l := listing[shownKey]{
		header: []string{"ID", "FROM", "OPENS THE DATABASE"},
		row:    func(k shownKey) []string { return []string{k.ID, k.From, k.Fits} },
		find:   a.findKey,
	}
	return l.on(a, &cobra.Command{
		Use:   "show",
		Short: "Show the ID of the master key and where the key comes from",
		Long: `Show the ID of the master key, where the key comes from, and whether it opens the
database; never the key itself. It is the key that the settings name; if that is not
there, the key that the running server has, such as one from systemd. The ID is on the
paper of "pushbox key export", and in the messages of backups.

With --json it is an object with id, from and opens_database.`,
		Example: `  pushbox key show
  PUSHBOX_MASTER_KEY_FILE=old.key pushbox key show`,
	})
}

// findKey finds the key of the settings, or else that of the server.
func (a *app) findKey(cmd *cobra.Command, _ []string) ([]shownKey, error) {
	cfg, err := a.settings(cmd)
	if err != nil {
		return nil, err
	}
	key, err := instance.ReadKey(cfg)
	if missing := (*instance.MissingKeyError)(nil); errors.As(err, &missing) {
		return serversKey(cmd.Context(), cfg, err)
	}
	if err != nil {
		return nil, err
	}
	k := shownKey{ID: key.ID(), From: strings.TrimPrefix(instance.KeyPlace(cfg), noFile)}
	switch fits, err := fitsDatabase(cmd.Context(), cfg, key); {
	case errors.Is(err, fs.ErrNotExist):
		k.Fits = "there is no database yet"
	case err != nil:
		k.Fits = fmt.Sprintf("not known: %v", err)
	default:
		k.Fits = yesNo(fits)
	}
	return []shownKey{k}, nil
}

// serversKey returns the key of the running server; without one, the error missing.
func serversKey(ctx context.Context, cfg config.Config, missing error) ([]shownKey, error) {
	inUse, err := ask(ctx, cfg.DataDir, admin.KeyID, admin.None{})
	if errors.Is(err, admin.ErrNoServer) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	facts, err := ask(ctx, cfg.DataDir, admin.Examine, admin.None{})
	if err != nil {
		return nil, err
	}
	return []shownKey{{inUse.ID, strings.TrimPrefix(facts.Key, noFile), "yes"}}, nil
}
