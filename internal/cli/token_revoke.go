package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/store"
)

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End an API token at once",
		Long:    `End an API token at once. ID is the first column of ` + "`pushbox token list`" + `.`,
		Example: `  pushbox token revoke 3`,
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil { // and args[0] may be the token itself: it is not quoted
				return withHint(usagef("ID is not a number"), "it is the first column of `pushbox token list EMAIL`")
			}
			_, err = administer(a, cmd, admin.TokenRevoke, admin.TokenRef{ID: store.TokenID(id)})
			if errors.Is(err, store.ErrNotFound) {
				return withHint(fmt.Errorf("token %d: %w", id, err), "`pushbox token list EMAIL` shows an account's tokens")
			}
			if err != nil {
				return err
			}
			a.say(fmt.Sprintf("revoked token %d", id))
			return nil
		},
	}
}
