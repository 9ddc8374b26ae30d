package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) webhookRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a webhook; what waits to be sent to it is dropped",
		Long:    `Remove a webhook. ID is the first column of ` + "`pushbox webhook list`" + `.`,
		Example: `  pushbox webhook remove 3`,
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := hookID(args[0])
			if err != nil {
				return err
			}
			if _, err := administer(a, cmd, admin.WebhookRemove, admin.WebhookRef{ID: id}); err != nil {
				return ofHook(id, err)
			}
			a.say(fmt.Sprintf("removed webhook %d", id))
			return nil
		},
	}
}
