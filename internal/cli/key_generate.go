package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
	"pushbox/store/seal"
)

func (a *app) keyGenerate() *cobra.Command {
	return &cobra.Command{
		Use:   "generate FILE",
		Short: "Make a master key for a new server",
		Long: `Make a master key in a new FILE that only its owner can read, for a server that has no
database yet: for platforms that hand the key to it, such as Kubernetes. An existing
file is never replaced. "pushbox serve" makes its key by itself; to replace the key of a
server, use "pushbox key rotate".`,
		Example: `  pushbox key generate master.key
  kubectl create secret generic pushbox-key --from-file=master.key`,
		Args: arguments("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := seal.CreateKeyFile(args[0])
			switch {
			case errors.Is(err, fs.ErrExist):
				return hint.With(fmt.Errorf("the key file %s exists already", args[0]), "name a file that does not exist yet")
			case err != nil:
				return fmt.Errorf("make the key file %s: %w", args[0], err)
			}
			a.say(fmt.Sprintf("made the key file %s (ID %s): keep a copy of it, and never lose it; without it nothing can be read", args[0], key.ID()))
			return nil
		},
	}
}
