package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/store"
)

func (a *app) keyRotate() *cobra.Command {
	var discard bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the master key by a new one",
		Long: `Make a new master key and put it into the key file. It takes a moment: what the
key seals is the key ring, and nothing else is sealed anew. A server that runs
goes on, and need not be started again. A rotation that is cut short is finished
or taken back at the next start.

Backups from before open with the old key alone. So it is kept beside the key
file, in a file with the time in its name, until you remove that.`,
		Example: `  pushbox key rotate
  pushbox key rotate --discard-old`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := administer(a, cmd, admin.KeyRotate, admin.Rotation{DiscardOld: discard})
			if err != nil {
				return notRotated(err)
			}
			a.say(fmt.Sprintf("put a new master key (ID %s) into %s", r.ID, r.File))
			if r.Old != "" {
				a.say(fmt.Sprintf("the old key (ID %s) is kept in %s: backups from before open with it alone; remove it once you need none of them", r.OldID, r.Old))
			} else {
				a.say(fmt.Sprintf("the old key (ID %s) is gone: backups from before open with a copy of it alone", r.OldID))
			}
			a.say("keep a copy of the new key apart from the database, such as on paper: pushbox key export")
			return nil
		},
	}
	cmd.Flags().BoolVar(&discard, "discard-old", false, "do not keep the old key")
	return cmd
}

// notRotated says what to do where the key cannot be replaced.
func notRotated(err error) error {
	if errors.Is(err, store.ErrDenied) {
		return withHint(err, "stop the server, run `PUSHBOX_MASTER_KEY_FILE=FILE pushbox key rotate`, where FILE is what the key is handed over from, and start it again; with the setting master_key, put the key into such a FILE first")
	}
	return err
}
