package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add an account",
		Long: `Add an account, which may then have API tokens.

The password is asked for twice on the terminal, or read from standard input.
If there is no database yet, it is made as ` + "`pushbox serve`" + ` makes it.`,
		Example: `  pushbox user add alice@example.com
  pass show pushbox | pushbox user add alice@example.com --password-stdin`,
		Args: arguments("EMAIL"),
	}
	addPasswordFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}}
		u, err := administerOr(a, cmd, admin.UserAdd, in, true)
		if err != nil {
			return ofAccount(args[0], err)
		}
		a.say("added the account " + u.Email)
		return nil
	}
	return cmd
}
