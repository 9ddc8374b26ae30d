package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userPasswd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passwd EMAIL",
		Short: "Set another password",
		Long: `Set another password for an account. Its API tokens stay valid.

The password is asked for twice on the terminal, or read from standard input.`,
		Example: `  pushbox user passwd alice@example.com`,
		Args:    arguments("EMAIL"),
	}
	addPasswordFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}}
		if _, err := administer(a, cmd, admin.UserPasswd, in); err != nil {
			return ofAccount(args[0], err)
		}
		a.say("set the password of " + args[0])
		return nil
	}
	return cmd
}
