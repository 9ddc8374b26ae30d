package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userEnable() *cobra.Command {
	return &cobra.Command{
		Use:     "enable EMAIL",
		Short:   "Give a disabled account its power back",
		Example: `  pushbox user enable alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := administer(a, cmd, admin.UserEnable, admin.Address{Email: args[0]}); err != nil {
				return ofAccount(args[0], err)
			}
			a.say("enabled the account " + args[0])
			return nil
		},
	}
}
