package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove EMAIL",
		Short: "Remove an account with all it owns",
		Long: `Remove an account with its API tokens, its pushes and their audit logs. Its
links end at once. There is no way back.

On a terminal it asks for the address again before it does so.`,
		Example: `  pushbox user remove alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.confirm(cmd.Context(), args[0]); err != nil {
				return err
			}
			if _, err := administer(a, cmd, admin.UserRemove, admin.Address{Email: args[0]}); err != nil {
				return ofAccount(args[0], err)
			}
			a.say("removed the account " + args[0])
			return nil
		},
	}
}

// confirm asks whoever sits at the terminal, if somebody does.
func (a *app) confirm(ctx context.Context, email string) error {
	if !a.console.terminal {
		return nil
	}
	answer, err := a.console.line(ctx,
		"This destroys the account, its tokens, its pushes and their audit logs.",
		"Type the address again: ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(answer), strings.TrimSpace(email)) {
		return withHint(errors.New("the addresses differ; nothing was removed"), "run the command again")
	}
	return nil
}
