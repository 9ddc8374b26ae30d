package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userResetMFA() *cobra.Command {
	return &cobra.Command{
		Use:   "reset-mfa EMAIL",
		Short: "Take the second factor from an account",
		Long: `Take the second factor and its recovery codes from an account, for somebody who
has lost both. Its password alone signs in then; sessions and API tokens go on.`,
		Example: `  pushbox user reset-mfa alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := administer(a, cmd, admin.UserResetMFA, admin.Address{Email: args[0]}); err != nil {
				return ofAccount(args[0], err)
			}
			a.say("took the second factor from the account " + args[0])
			return nil
		},
	}
}
