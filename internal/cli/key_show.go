package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
)

// A shownKey is what may be known of a key.
type shownKey struct {
	ID   string `json:"id"`
	From string `json:"from"`
	Fits string `json:"opens_database"` // yes, no, or why that is not known
}

func (a *app) keyShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the ID of the master key and where the key comes from",
		Long: `Show the ID of the master key, where the key comes from, and whether it opens the
database; never the key itself. It is the key that the settings name; if that is not
there, the key that the running server has, such as one from systemd. The ID is on the
paper of "pushbox key export", and in the messages of backups.

With --json it is an object with id, from and opens_database.`,
		Example: `  pushbox key show
  PUSHBOX_MASTER_KEY_FILE=old.key pushbox key show`,
		Args: arguments(),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		k, err := a.findKey(cmd)
		if err != nil {
			return err
		}
		row := func(k shownKey) []string { return []string{k.ID, k.From, k.Fits} }
		return listing[shownKey]{[]string{"ID", "FROM", "OPENS THE DATABASE"}, row}.print(a.stdout, []shownKey{k}, *asJSON)
	}
	return cmd
}

// findKey finds the key of the settings, or else that of the server.
func (a *app) findKey(cmd *cobra.Command) (shownKey, error) {
	loaded, err := a.settings(cmd)
	if err != nil {
		return shownKey{}, err
	}
	cfg := loaded.Config
	key, err := instance.ReadKey(cfg)
	if missing := (*instance.MissingKeyError)(nil); errors.As(err, &missing) {
		return serversKey(cmd.Context(), cfg, err)
	}
	if err != nil {
		return shownKey{}, err
	}
	k := shownKey{ID: key.ID(), From: keyOrigin(instance.KeyPlace(cfg)), Fits: "no"}
	switch fits, err := fitsDatabase(cmd.Context(), cfg, key); {
	case errors.Is(err, fs.ErrNotExist):
		k.Fits = "there is no database yet"
	case err != nil:
		k.Fits = fmt.Sprintf("not known: %v", err)
	case fits:
		k.Fits = "yes"
	}
	return k, nil
}

// serversKey returns the key of the running server; without one, the error missing.
func serversKey(ctx context.Context, cfg config.Config, missing error) (shownKey, error) {
	client, err := admin.NewClient(admin.SocketPath(cfg.DataDir))
	if err != nil {
		return shownKey{}, err
	}
	inUse, err := admin.KeyID.Call(ctx, client, admin.None{})
	if errors.Is(err, admin.ErrNoServer) {
		return shownKey{}, missing
	}
	if err != nil {
		return shownKey{}, err
	}
	facts, err := admin.Examine.Call(ctx, client, admin.None{})
	return shownKey{inUse.ID, keyOrigin(facts.Key), "yes"}, err
}

// keyOrigin returns where a key comes from, as instance.KeyPlace has it.
func keyOrigin(place string) string { return strings.TrimPrefix(place, "none: ") }
