package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userDisable() *cobra.Command {
	return &cobra.Command{
		Use:   "disable EMAIL",
		Short: "Make an account powerless for the time being",
		Long: `Disable an account: no API token of it is valid until it is enabled again, and
its sessions end. The links to its pushes go on working.`,
		Example: `  pushbox user disable alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := administer(a, cmd, admin.UserDisable, admin.Address{Email: args[0]}); err != nil {
				return ofAccount(args[0], err)
			}
			a.say("disabled the account " + args[0])
			return nil
		},
	}
}
