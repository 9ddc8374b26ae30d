package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) tokenCreate() *cobra.Command {
	var label string
	var expires lifetime
	cmd := &cobra.Command{
		Use:   "create EMAIL",
		Short: "Make an API token and print it",
		Long: `Make an API token that acts as an account, and print it on standard output.
It cannot be shown again: only its digest is kept.`,
		Example: `  pushbox token create alice@example.com --name laptop --expires 90d`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkText("--name", label); err != nil {
				return err
			}
			return a.createToken(cmd, admin.TokenRequest{Email: args[0], Label: label, Lifetime: time.Duration(expires)})
		},
	}
	cmd.Flags().StringVar(&label, "name", "", "call the token `LABEL` in lists")
	cmd.Flags().Var(&expires, "expires", "how long it is valid, such as `90d`; without: for good")
	return cmd
}

func (a *app) createToken(cmd *cobra.Command, in admin.TokenRequest) error {
	t, err := administer(a, cmd, admin.TokenCreate, in)
	if err != nil {
		return ofAccount(in.Email, err)
	}
	if _, err := fmt.Fprintln(a.stdout, t.Secret.Reveal()); err != nil {
		return withHint(fmt.Errorf("token %d was made and could not be printed: %w", t.ID, err), "run: pushbox token revoke %d", t.ID)
	}
	a.say(fmt.Sprintf("made token %d, expires: %s; it is not shown again", t.ID, stamp(t.ExpiresAt, "never")))
	return nil
}
