package cli

import "github.com/spf13/cobra"

func (a *app) expire() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "expire LINK",
		Short: "End a push: it can no longer be retrieved",
		Long: `End a push at once, on the pushbox or Password Pusher server that its link names.
Its owner can always do that, with an API token. Others can only if the sender let
anyone with the link delete it.` + clientHelp,
		Example: `  pushbox expire https://push.example.com/p/TOKEN`,
		Args:    arguments("LINK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := parseLink(args[0])
			if err != nil {
				return err
			}
			c, _, err := a.dial(cmd, l.Server)
			if err != nil {
				return err
			}
			if err := c.Expire(cmd.Context(), l); err != nil {
				return remoteError("expire on", l.Server, err)
			}
			a.say("the push has ended and can no longer be retrieved")
			return nil
		},
	}
	addClientFlags(cmd)
	return cmd
}
