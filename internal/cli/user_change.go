package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

func (a *app) userRename() *cobra.Command {
	return &cobra.Command{
		Use:   "rename EMAIL NEW",
		Short: "Give an account another address",
		Long: `Give an account another address, by which its user signs in from then on. Its
password, second factor, sessions, API tokens, pushes and webhooks stay. Programs
that send the address beside their token must send the new one. You vouch for the
new address: it counts as confirmed.`,
		Example: `  pushbox user rename ann@example.com ann@example.org`,
		Args:    arguments("EMAIL", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := administer(a, cmd, admin.UserRename, admin.Rename{Email: args[0], To: args[1]})
			switch {
			case errors.Is(err, record.ErrExists):
				return hint.With(fmt.Errorf("account %s: %w", args[1], err), "choose an address that no account has")
			case err != nil:
				return ofAccount(args[0], err)
			}
			a.say(fmt.Sprintf("the account %s has the address %s now", args[0], args[1]))
			return nil
		},
	}
}

func (a *app) userExpirePushes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "expire-pushes EMAIL",
		Short: "End all live pushes of an account",
		Long: `End all live pushes of an account at once, as if it had deleted each of them: links
and running downloads end, and payloads and files are destroyed. Audit logs stay. The
account itself stays as it is: to keep it from making new pushes, disable it first.

It first asks you to type the address again. Where there is no terminal, as in a
script, it needs --yes.`,
		Example: `  pushbox user disable ann@example.com && pushbox user expire-pushes ann@example.com
  pushbox user expire-pushes ann@example.com --yes`,
		Args: arguments("EMAIL"),
	}
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*yes {
			if err := a.confirm(cmd.Context(), args[0], "ends all live pushes of the account, and destroys what they hold"); err != nil {
				return err
			}
		}
		ended, err := administer(a, cmd, admin.UserExpirePushes, admin.Address{Email: args[0]})
		if err != nil {
			return ofAccount(args[0], err)
		}
		a.say(fmt.Sprintf("ended %s of %s", humanize.Count(ended.N, "live push", "live pushes"), args[0]))
		return nil
	}
	return cmd
}
